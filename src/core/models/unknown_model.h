// The error for a name that no model has.
#pragma once

#include <string_view>

#include "core/host/policy.h"
#include "core/models/model_registry.h"
#include "core/status.h"

namespace wasinn::core {

// NOT_FOUND. It lists some models: those that the guest's policy allows.
Status UnknownModel(const ModelRegistry& models, const Policy& policy, std::string_view name);

}  // namespace wasinn::core
