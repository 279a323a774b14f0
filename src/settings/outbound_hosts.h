// To whom guests may send HTTP requests of their own (policy.allowed_outbound_hosts).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "settings/model_flags.h"

namespace wasinn::settings {

// Any thread.
class OutboundHosts {
 public:
  // Each is "http://HOST", "https://HOST:PORT" and so on; "*." before the host is for all names below it. An error: one is not.
  static Parsed<OutboundHosts> Parse(std::span<const std::string> list);

  bool empty() const { return origins_.empty(); }
  // As a guest says them. What is not written as the list has it, but for its case and its scheme's own port, is not allowed.
  bool Allow(std::string_view scheme, std::string_view authority) const;

 private:
  std::vector<std::string> origins_;  // in lower case, without their scheme's own port
};

}  // namespace wasinn::settings
