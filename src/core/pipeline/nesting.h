// Whether the steps of a pipeline, which may be pipelines, come to an end.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/models/model_registry.h"

namespace wasinn::pipeline {

// Pipelines of pipelines: each level is a frame of every load and compute.
inline constexpr size_t kDeepest = 16;

// A model by the name that a step has for it; null: there is none.
using FindSource = std::function<std::shared_ptr<const core::ModelSource>(const std::string& name)>;

// INVALID_ARGUMENT where a pipeline is a step of itself, so that a load would wait for itself, or where more than kDeepest
// lie within each other. Looks once at each step of each pipeline, however many ways lead there.
core::Status CheckNesting(const core::ModelSource& source, const FindSource& find);

}  // namespace wasinn::pipeline
