#include "abi/witx/witx.h"
#include "api/objects.h"
#include "core/c_struct.h"
#include "core/process.h"

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

core::Status NewProcess(wasinn_host& host, const wasinn_process_options* given, wasinn_process** out) {
  core::Result<wasinn_process_options> options(std::in_place);
  if (given != nullptr) options = core::ReadStruct(*given, "wasinn_process_options");
  if (!options) return std::move(options.error());
  // A limit that the caller's version does not know is the host's: 0 would be none at all, or no deadline.
  core::Result<wasinn_limits> limits(host.host->limits());
  if (options->limits != nullptr) limits = core::ReadStruct(*options->limits, "wasinn_limits", host.host->limits());
  if (!limits) return std::move(limits.error());
  core::Result<core::Policy> policy(host.host->policy());
  if (options->policy != nullptr) policy = ToPolicy(*options->policy);
  if (!policy) return std::move(policy.error());
  *out = new wasinn_process(host.host, options->name == nullptr ? "" : options->name, *limits, std::move(*policy));
  return {};
}

}  // namespace
}  // namespace wasinn::api

namespace abi = wasinn::abi;
namespace api = wasinn::api;
namespace core = wasinn::core;

wasinn_status* wasinn_process_new(wasinn_host* host, const wasinn_process_options* options, wasinn_process** out) {
  return api::Guard([&] { return api::NewProcess(*host, options, out); });
}
void wasinn_process_close(wasinn_process* process) { process->Close(); }
void wasinn_process_free(wasinn_process* process) { delete process; }
wasinn_status* wasinn_process_statistics(const wasinn_process* process, wasinn_process_stats* out) {
  return api::Guard([&] { return core::WriteStruct(*out, process->Statistics(), "wasinn_process_stats"); });
}

const wasinn_function* wasinn_functions(size_t* count) {
  const std::span<const wasinn_function> functions = abi::AllFunctions();
  *count = functions.size();
  return functions.data();
}
