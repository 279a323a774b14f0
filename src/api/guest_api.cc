#include <wasinn/engine.h>

#include "abi/profiles.h"
#include "abi/wit/call.h"
#include "abi/witx/call.h"
#include "api/objects.h"
#include "core/c_struct.h"
#include "core/host/guest.h"
#include "core/words.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace wasinn::api {
namespace {

// The bits of unknown targets must all be set, as in WASINN_TARGET_ALL, or all be 0.
core::Status CheckTargets(uint32_t targets) {
  constexpr uint32_t kKnown = (2u << WASINN_TARGET_AUTO) - 1, kOthers = WASINN_TARGET_ALL & ~kKnown;
  const uint32_t others = targets & ~kKnown;
  if (others == 0 || others == kOthers) return core::Status();
  return core::Error(WASINN_ERROR_INVALID_ARGUMENT,
                     "policy.targets is {:#x}: expected 1u << wasinn_target for each, or WASINN_TARGET_ALL", targets);
}

core::Status CheckNumbers(const wasinn_policy& policy) {
  RETURN_IF_ERROR(CheckTargets(policy.targets));
  if (policy.weight <= core::Share::kMaxWeight) return core::Status();
  return core::Error(WASINN_ERROR_INVALID_ARGUMENT, "policy.weight is {}: expected 1 to {}, or 0 for 1", policy.weight,
                     core::Share::kMaxWeight);
}

// NULL is no list, which allows everything, so it must have no count.
core::Result<std::optional<std::vector<std::string>>> ToNames(const char* field, const char* const* names, size_t n) {
  if (names == nullptr && n != 0) {
    return core::Fail(WASINN_ERROR_INVALID_ARGUMENT, "{} is NULL, which allows every name, and has a count of {}",
                      field, n);
  }
  if (names == nullptr) return std::nullopt;
  std::vector<std::string> out;
  for (const char* const name : std::span(names, n)) {
    if (name == nullptr) return core::Fail(WASINN_ERROR_INVALID_ARGUMENT, "{} has a name that is NULL", field);
    out.emplace_back(name);
  }
  return out;
}

core::Result<core::Policy> ToPolicy(const wasinn_policy& given) {
  ASSIGN_OR_RETURN(const wasinn_policy policy, core::ReadStruct(given, "wasinn_policy"));
  ASSIGN_OR_RETURN(wasinn_load load, core::LoadOf("policy.load", policy.load));
  ASSIGN_OR_RETURN(wasinn_dialect dialect, core::DialectOf("policy.dialect", policy.dialect));
  RETURN_IF_ERROR(CheckNumbers(policy));
  ASSIGN_OR_RETURN(auto models, ToNames("policy.models", policy.models, policy.n_models));
  ASSIGN_OR_RETURN(auto encodings, ToNames("policy.encodings", policy.encodings, policy.n_encodings));
  if (encodings) std::ranges::transform(*encodings, encodings->begin(), core::FormatName);
  return core::Policy{.load = load,
                      .cpu_fallback = policy.cpu_fallback,
                      .isolated_gpu = policy.isolated_gpu,
                      .targets = policy.targets,
                      .models = std::move(models),
                      .encodings = std::move(encodings),
                      .dialect = dialect,
                      .tenant = policy.tenant == nullptr ? "" : policy.tenant,
                      .weight = std::max(policy.weight, 1u),
                      .allowed_outbound_hosts = {}};  // set by the program that runs the guest
}

// The share of a guest that runs on behalf of this one.
core::Result<std::shared_ptr<const core::Share>> ShareOf(const core::Host& host, wasinn_guest* guest) {
  if (guest == nullptr) return nullptr;
  const core::Guest::Call presence(*guest);
  if (!presence)
    return core::Fail(WASINN_ERROR_INVALID_ARGUMENT, "on_behalf_of: expected an open guest, got a closed one");
  if (guest->host() != &host) {
    return core::Fail(WASINN_ERROR_INVALID_ARGUMENT, "on_behalf_of: expected a guest of this host, got another host's");
  }
  return guest->share();
}

core::Status NewGuest(wasinn_host& host, const wasinn_guest_options* given, wasinn_guest** out) {
  core::Result<wasinn_guest_options> options(std::in_place);
  if (given != nullptr) options = core::ReadStruct(*given, "wasinn_guest_options");
  if (!options) return std::move(options.error());
  // A limit that the caller's version does not have is the host's: 0 would allow nothing, or mean no deadline.
  core::Result<wasinn_limits> limits(host.host->limits());
  if (options->limits != nullptr) limits = core::ReadStruct(*options->limits, "wasinn_limits", host.host->limits());
  if (!limits) return std::move(limits.error());
  core::Result<core::Policy> policy(host.host->policy());
  if (options->policy != nullptr) policy = ToPolicy(*options->policy);
  if (!policy) return std::move(policy.error());
  ASSIGN_OR_RETURN(auto share, ShareOf(*host.host, options->on_behalf_of));
  *out = new wasinn_guest(host.host, options->name == nullptr ? "" : options->name, *limits, std::move(*policy),
                          core::Printer{options->print, options->print_user}, std::move(share));
  return {};
}

// Under a presence, so that guest and host exist; the function takes another.
uint32_t CallInside(const wasinn_call& call) {
  const wasinn_function& function = *call.function;
  if (function.flags == 0) return function.call(call.guest, call.memory, call.args, call.stride);
  uint32_t result = 0;
  const auto body = [&] { result = function.call(call.guest, call.memory, call.args, call.stride); };
  const core::Status status =
      call.guest->Run({.may_block = (function.flags & WASINN_FUNCTION_MAY_BLOCK) != 0,
                       .large_stack = (function.flags & WASINN_FUNCTION_LARGE_STACK) != 0,
                       .stack_left = call.stack_left,
                       .ended = call.ended,
                       .user = call.caller},
                      std::cref(body));  // the captures are too large for a std::function that does not allocate
  if (status.ok()) return result;
  call.guest->Report(function.name, status);
  return abi::kWitx.error(status.code());
}

uint32_t CallOfThisVersion(wasinn_call& call) {
  const uint32_t failed = abi::kWitx.error(WASINN_ERROR_RUNTIME);
  if (call.guest == nullptr) return failed;
  const core::Guest::Call presence(*call.guest);
  call.refused = !presence;
  return presence ? CallInside(call) : failed;
}

uint32_t Call(wasinn_call& given) noexcept {
  try {
    if (given.struct_size == sizeof given) [[likely]]
      return CallOfThisVersion(given);
    core::Result<wasinn_call> call = core::ReadStruct(given, "wasinn_call");
    const uint32_t result = call ? CallOfThisVersion(*call) : abi::kWitx.error(WASINN_ERROR_RUNTIME);
    if (call && given.struct_size > offsetof(wasinn_call, refused)) given.refused = call->refused;
    return result;
  } catch (...) {  // no memory
    return abi::kWitx.error(WASINN_ERROR_RUNTIME);
  }
}

// A call whose caller does not wait.
struct Begun {
  explicit Begun(const wasinn_call& given) : call(given), presence(*given.guest) {}

  wasinn_call call;
  const core::Guest::Call presence;
};

uint32_t RunBegun(const Begun& begun) noexcept {
  try {
    return CallInside(begun.call);
  } catch (...) {  // no memory
    return abi::kWitx.error(WASINN_ERROR_RUNTIME);
  }
}

using Done = void (*)(void* user, uint32_t result);

// `begun` keeps the call inside. An errno: it was done, or failed, at once.
std::optional<uint32_t> Begin(wasinn_call& given, Done done, void* user, std::shared_ptr<Begun>& begun) {
  const uint32_t failed = abi::kWitx.error(WASINN_ERROR_RUNTIME);
  const core::Result<wasinn_call> call = core::ReadStruct(given, "wasinn_call");
  if (!call || call->guest == nullptr) return failed;
  begun = std::make_shared<Begun>(*call);
  if (core::CommonSize<wasinn_call>(given.struct_size) > offsetof(wasinn_call, refused))
    given.refused = !begun->presence;
  if (!begun->presence) return failed;
  begun->call.stack_left = SIZE_MAX;
  if ((call->function->flags & WASINN_FUNCTION_MAY_BLOCK) == 0) return RunBegun(*begun);
  // Made here, because a job throws nothing, and there may be no memory for it later.
  std::function<void(uint32_t)> notify = [begun, done, user](uint32_t result) { done(user, result); };
  const core::Status status = call->guest->Begin([begun, notify = std::move(notify)] {
    if (!abi::BeginWithoutThread(begun->call, notify)) notify(RunBegun(*begun));
  });
  if (status.ok()) return std::nullopt;
  call->guest->Report(call->function->name, status);
  return failed;
}

// The caller gets the report while the call is still inside.
void BeginAndReport(wasinn_call& given, Done done, void* user) noexcept {
  std::shared_ptr<Begun> begun;
  std::optional<uint32_t> result;
  try {
    result = Begin(given, done, user, begun);
  } catch (...) {
    result = abi::kWitx.error(WASINN_ERROR_RUNTIME);
  }
  if (result) done(user, *result);
}

// For lists other than tensors and models: names, dimensions, the list of named tensors itself.
constexpr uint64_t kSmallLists = 1 << 20;

wasinn_wit_limits WitLimitsOf(const wasinn_limits& limits) {
  // A guest can pass no more than its own memory, except by naming a part of it several times.
  const uint64_t most = std::min(std::max(limits.max_model_bytes, limits.max_tensor_bytes), limits.max_memory_bytes);
  const uint64_t handles = uint64_t{limits.max_graphs} + limits.max_contexts + limits.max_tensors + limits.max_errors;
  return {.struct_size = sizeof(wasinn_wit_limits),
          .max_call_bytes = most > UINT64_MAX - kSmallLists ? UINT64_MAX : most + kSmallLists,
          .max_handles = static_cast<uint32_t>(std::min<uint64_t>(handles, UINT32_MAX))};
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
void wasinn_guest_stop(wasinn_guest* guest) { guest->Stop(); }
wasinn_status* wasinn_guest_begin_run(wasinn_guest* guest, void (*interrupt)(void* user), void* user) {
  return api::Guard([&] { return guest->BeginRun(interrupt, user); });
}
bool wasinn_guest_end_run(wasinn_guest* guest) { return guest->EndRun(); }
void wasinn_guest_free(wasinn_guest* guest) {
  if (guest != nullptr) guest->Retire();
  wasinn_guest_release(guest);
}
wasinn_guest* wasinn_guest_retain(wasinn_guest* guest) {
  if (guest != nullptr) guest->references.fetch_add(1, std::memory_order_relaxed);
  return guest;
}
void wasinn_guest_release(wasinn_guest* guest) {
  if (guest != nullptr && guest->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete guest;
}
wasinn_status* wasinn_guest_statistics(const wasinn_guest* guest, wasinn_statistics* out) {
  return api::Guard([&] { return core::WriteStruct(*out, guest->Statistics(), "wasinn_statistics"); });
}

const wasinn_function* const* wasinn_functions(size_t* count) {
  const std::span<const wasinn_function* const> functions = abi::AllFunctions();
  *count = functions.size();
  return functions.data();
}
uint32_t wasinn_guest_call(wasinn_call* call) { return api::Call(*call); }
void wasinn_guest_call_begin(wasinn_call* call, void (*done)(void* user, uint32_t result), void* user) {
  api::BeginAndReport(*call, done, user);
}
size_t wasinn_stack_left(size_t most) { return core::StackLeft(most); }

const wasinn_wit_functions* wasinn_wit(void) { return &abi::WitFunctions(); }
wasinn_status* wasinn_wit_guest_limits(const wasinn_guest* guest, wasinn_wit_limits* out) {
  return api::Guard([&] { return core::WriteStruct(*out, api::WitLimitsOf(guest->limits()), "wasinn_wit_limits"); });
}
