// Checks that a pipeline's steps, which may be pipelines, do not contain the pipeline itself.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/models/model_registry.h"

namespace wasinn::pipeline {

// Each level of nested pipelines is a frame of every load and compute.
inline constexpr size_t kDeepest = 16;

// The model that a step names; null: there is none.
using FindSource = std::function<std::shared_ptr<const core::ModelSource>(const std::string& name)>;

// INVALID_ARGUMENT if a pipeline is a step of itself, so that a load would wait for itself, or if more than kDeepest
// are nested. Checks each step of each pipeline once, even if several paths lead there.
core::Status CheckNesting(const core::ModelSource& source, const FindSource& find);

}  // namespace wasinn::pipeline
