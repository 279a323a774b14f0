// The hosts to which guests may send HTTP requests of their own (policy.allowed_outbound_hosts).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "settings/model_flags.h"

namespace wasinn::settings {

// Thread-safe.
class OutboundHosts {
 public:
  // Each is "http://HOST", "https://HOST:PORT" and so on; "*." before the host stands for all names below it.
  static Parsed<OutboundHosts> Parse(std::span<const std::string> list);

  bool empty() const { return origins_.empty(); }
  // The arguments are a guest's. They must be spelled as in the list, except for case and the scheme's own port.
  bool Allow(std::string_view scheme, std::string_view authority) const;

 private:
  std::vector<std::string> origins_;  // in lower case, without the scheme's own port
};

}  // namespace wasinn::settings
