#include "serve/tenants/guest_settings.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "serve/server.h"

namespace wasinn::serve {
namespace {

Failure ToFailure(const Status& status) { return {status.code(), status.message()}; }

// Whether `name` is "MODEL:2".
bool IsVersionOf(const std::string& model, std::string_view name) {
  if (!name.starts_with(model) || name.size() < model.size() + 2 || name[model.size()] != ':') return false;
  return name.find_first_not_of("0123456789", model.size() + 1) == name.npos;
}

}  // namespace

Outcome<GuestSettings> GuestSettings::Make(const ServeOptions& options, const std::string& more) {
  wasinn::Config config;
  if (Status status = config.LoadToml(options.sections.guests); !status.ok()) return std::unexpected(ToFailure(status));
  for (const auto& [key, value] : options.host_flags.settings) {
    static constexpr std::string_view kOfGuests[] = {"limits.", "policy.", "engine."};
    if (std::ranges::none_of(kOfGuests, [&](std::string_view of) { return key.starts_with(of); })) continue;
    if (Status status = config.Set(key, value); !status.ok()) return std::unexpected(ToFailure(status));
  }
  if (Status status = config.LoadToml(more); !status.ok()) return std::unexpected(ToFailure(status));
  Result<Host> host = Host::Create(config);
  if (!host) return std::unexpected(ToFailure(host.status()));
  Policy policy = host->policy();
  auto outbound = settings::OutboundHosts::Parse(policy.allowed_outbound_hosts);
  if (!outbound) return std::unexpected(Invalid(std::move(outbound.error())));
  return GuestSettings(std::move(*host), std::move(policy), std::move(*outbound));
}

bool GuestSettings::MayUse(const std::string& model) const {
  if (!policy_.models) return true;
  return std::ranges::any_of(*policy_.models,
                             [&](const std::string& name) { return name == model || IsVersionOf(model, name); });
}

}  // namespace wasinn::serve
