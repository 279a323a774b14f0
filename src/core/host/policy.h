// What a guest may ask for.
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
  std::optional<std::vector<std::string>> models;     // nothing: every registered one
  std::optional<std::vector<std::string>> encodings;  // names of formats; nothing: every one

  wasinn_dialect dialect = WASINN_DIALECT_DEFAULT;
  std::string tenant;   // whose guests share workers; "": of one guest
  uint32_t weight = 1;  // of its turns

  std::vector<std::string> allowed_outbound_hosts;  // for whoever runs its program

  // Anything else that lets guests load is a worker: what nobody knows never runs in the host's process.
  bool loads_in_process() const { return load == WASINN_LOAD_IN_PROCESS; }

  // SECURITY with what was refused. The encoding is checked when it is known: a guest may leave it to be recognised.
  Status CheckLoad(wasinn_target target) const;
  Status CheckTarget(wasinn_target target) const;
  Status CheckEncoding(std::string_view encoding) const;
  Status CheckName(std::string_view name) const;
};

// The defaults that docs/configuration.md lists, safe for guests that nobody trusts.
wasinn_limits DefaultLimits();

}  // namespace wasinn::core
