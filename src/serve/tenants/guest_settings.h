// Limits and permissions of guests: the configuration's [limits] and [policy], and perhaps a tenant's own.
#pragma once

#include <string>
#include <utility>

#include <wasinn/wasinn.hpp>

#include "serve/oip/inference.h"
#include "settings/outbound_hosts.h"

namespace wasinn::serve {

struct ServeOptions;

// Thread-safe.
class GuestSettings {
 public:
  // `more`: TOML that overrides the options' file and flags. INVALID_ARGUMENT names the key.
  static Outcome<GuestSettings> Make(const ServeOptions& options, const std::string& more = "");

  const Limits& limits() const { return limits_; }
  const Policy& policy() const { return policy_; }
  const settings::OutboundHosts& outbound_hosts() const { return outbound_; }
  EngineLimits engine_limits() const { return host_.engine_limits(); }
  EngineOptions engine() const { return host_.engine_options(); }
  // Whether the policy has this name, or a version of it ("m:1").
  bool MayUse(const std::string& model) const;

 private:
  GuestSettings(Host host, Policy policy, settings::OutboundHosts outbound)
      : host_(std::move(host)), limits_(host_.limits()), policy_(std::move(policy)), outbound_(std::move(outbound)) {}

  Host host_;  // without models: it reads the settings
  Limits limits_;
  Policy policy_;
  settings::OutboundHosts outbound_;
};

}  // namespace wasinn::serve
