#include "abi/witx/witx.h"
#include "api/objects.h"
#include "core/c_struct.h"
#include "core/guest.h"

namespace wasinn::api {
namespace {

core::Result<core::Policy> ToPolicy(const wasinn_policy& given) {
  const core::Result<wasinn_policy> read = core::ReadStruct(given, "wasinn_policy");
  if (!read) return std::unexpected(Copy(read.error()));
  const wasinn_policy& policy = *read;
  core::Policy out{.allow_load = policy.allow_load,
                   .cpu_fallback = policy.cpu_fallback,
                   .encodings = policy.encodings,
                   .targets = policy.targets,
                   .models = std::nullopt,
                   .dialect = policy.dialect,
                   .inputs = policy.inputs};
  if (policy.models != nullptr) out.models.emplace(policy.models, policy.models + policy.n_models);
  return out;
}

core::Status NewGuest(wasinn_host& host, const wasinn_guest_options* given, wasinn_guest** out) {
  core::Result<wasinn_guest_options> options(std::in_place);
  if (given != nullptr) options = core::ReadStruct(*given, "wasinn_guest_options");
  if (!options) return std::move(options.error());
  // A limit that the caller's version does not know is the host's: 0 would be none at all, or no deadline.
  core::Result<wasinn_limits> limits(host.host->limits());
  if (options->limits != nullptr) limits = core::ReadStruct(*options->limits, "wasinn_limits", host.host->limits());
  if (!limits) return std::move(limits.error());
  core::Result<core::Policy> policy(host.host->policy());
  if (options->policy != nullptr) policy = ToPolicy(*options->policy);
  if (!policy) return std::move(policy.error());
  *out = new wasinn_guest(host.host, options->name == nullptr ? "" : options->name, *limits, std::move(*policy));
  return {};
}

}  // namespace
}  // namespace wasinn::api

namespace abi = wasinn::abi;
namespace api = wasinn::api;
namespace core = wasinn::core;

wasinn_status* wasinn_guest_new(wasinn_host* host, const wasinn_guest_options* options, wasinn_guest** out) {
  return api::Guard([&] { return api::NewGuest(*host, options, out); });
}
void wasinn_guest_close(wasinn_guest* guest) { guest->Close(); }
void wasinn_guest_free(wasinn_guest* guest) { delete guest; }
wasinn_status* wasinn_guest_statistics(const wasinn_guest* guest, wasinn_guest_stats* out) {
  return api::Guard([&] { return core::WriteStruct(*out, guest->Statistics(), "wasinn_guest_stats"); });
}

const wasinn_function* wasinn_functions(size_t* count) {
  const std::span<const wasinn_function> functions = abi::AllFunctions();
  *count = functions.size();
  return functions.data();
}
