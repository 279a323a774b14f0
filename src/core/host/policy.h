// The rights of a guest.
#pragma once

#include <wasinn/wasinn.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/inference/fair_order.h"
#include "core/status.h"

namespace wasinn::core {

struct Policy {
  wasinn_load load = WASINN_LOAD_ISOLATED;
  bool cpu_fallback = false;
  bool isolated_gpu = false;  // workers may use devices, in a weaker sandbox
  uint32_t targets = WASINN_TARGET_ALL;
  std::optional<std::vector<std::string>> models;     // no value: every registered one
  std::optional<std::vector<std::string>> encodings;  // names of formats; no value: every one

  wasinn_dialect dialect = WASINN_DIALECT_DEFAULT;
  std::string tenant;   // its guests share workers; "": each guest has its own
  uint32_t weight = 1;  // of the guest's turns

  std::vector<std::string> allowed_outbound_hosts;  // for the program that runs the guest's code

  // CheckLoad refuses unknown values. If one came here anyway, it would not load in the host's process.
  bool loads_in_process() const { return load == WASINN_LOAD_IN_PROCESS; }

  // SECURITY names what was refused. The encoding is checked later, when it is known: it may have to be recognised.
  Status CheckLoad(wasinn_target target) const;
  Status CheckTarget(wasinn_target target) const;
  Status CheckEncoding(std::string_view encoding) const;
  Status CheckName(std::string_view name) const;
};

class ModelRegistry;

// The error for a name that no model has: NOT_FOUND. It lists some models, of those that the guest's policy allows.
Status UnknownModel(const ModelRegistry& models, const Policy& policy, std::string_view name);

// The defaults in docs/configuration.md, safe for untrusted guests.
wasinn_limits DefaultLimits();

}  // namespace wasinn::core
