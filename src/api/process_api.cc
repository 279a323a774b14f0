#include "abi/witx/witx.h"
#include "api/objects.h"
#include "core/process.h"

namespace wasinn::api {
namespace {

core::Policy ToPolicy(const wasinn_policy& given) {
  const wasinn_policy policy = Known(given);
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

core::Status NewProcess(wasinn_host& host, const wasinn_process_options& options, wasinn_process** out) {
  const wasinn_limits limits = options.limits == nullptr ? host.host->limits() : Known(*options.limits);
  core::Policy policy = options.policy == nullptr ? host.host->policy() : ToPolicy(*options.policy);
  *out = new wasinn_process(host.host, options.name == nullptr ? "" : options.name, limits, std::move(policy));
  return {};
}

}  // namespace
}  // namespace wasinn::api

namespace abi = wasinn::abi;
namespace api = wasinn::api;

wasinn_status* wasinn_process_new(wasinn_host* host, const wasinn_process_options* options, wasinn_process** out) {
  return api::Guard([&] {
    return api::NewProcess(*host, options == nullptr ? wasinn_process_options{} : api::Known(*options), out);
  });
}
void wasinn_process_close(wasinn_process* process) { process->Close(); }
void wasinn_process_free(wasinn_process* process) { delete process; }
void wasinn_process_statistics(const wasinn_process* process, wasinn_process_stats* out) {
  api::Fill(*out, process->Statistics());
}

const wasinn_function* wasinn_functions(size_t* count) {
  const std::span<const wasinn_function> functions = abi::AllFunctions();
  *count = functions.size();
  return functions.data();
}
