// Pipelines as a backend of the core: the table of wasinn/backend.h, whose functions compute on contexts.
#pragma once

#include <memory>

#include "core/backend.h"
#include "core/pipeline/plan.h"

namespace wasinn::pipeline {

inline constexpr char kEncoding[] = "pipeline";

const wasinn_backend& Table();

// A backend whose only load gives this pipeline.
core::Result<std::shared_ptr<core::Backend>> OpenBackend(Plan plan, const core::Logger& logger);

}  // namespace wasinn::pipeline
