// Computes that a guest begins, and waits for later.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "abi/profiles.h"
#include "abi/witx/call.h"

namespace wasinn::abi {
namespace {

using core::Guest;
using core::Result;
using core::Status;
using Wait = Guest::ComputeWait;

// Makes a wait that has not begun.
Status MakeWait(const Invocation& call, const core::Executor::Job& then, std::optional<Wait>& wait) {
  const uint32_t address = call.arg(0), count = call.arg(1), limit = call.guest.limits().max_contexts;
  RETURN_IF_ERROR(CheckResult(call, call.arg(3)));
  if (count > limit) {
    return core::Error(WASINN_ERROR_INVALID_ARGUMENT, "a wait for {} contexts is over the limit of {}", count, limit);
  }
  const auto bytes = call.memory.Range(address, count, sizeof(uint32_t));
  if (!bytes) return core::OutOfRange("the list of contexts", address, uint64_t{count} * sizeof(uint32_t));
  std::vector<uint32_t> contexts(count);
  if (count != 0) std::memcpy(contexts.data(), bytes->data(), bytes->size());
  wait.emplace(call.guest, std::move(contexts), call.arg(2), then);
  return Status();
}

Status EndWait(const Invocation& call, const Wait& wait) {
  ASSIGN_OR_RETURN(const uint32_t index, wait.End());
  return StoreResult(call, call.arg(3), index);
}

// ---- Calls that no thread waits for

using Done = std::function<void(uint32_t)>;

// Such a call, from its beginning until the guest's errno is known. It does what Enter and Guest::Run do for other calls.
class BegunCall {
 public:
  BegunCall(const wasinn_call& given, const Profile& profile, wasinn_code answer, const Done& done)
      : call_{*given.guest, profile, core::GuestMemory(*given.memory), static_cast<const uint8_t*>(given.args),
              given.stride},
        errors_{given.function->name, answer, nullptr},
        asking_(*given.guest, given.ended, given.caller),
        done_(done) {}

  // True: it has begun, and frees itself at its end. Every failure here also fails the usual way, which reports it.
  // Throws if there is no memory, and then nothing has begun.
  bool BeginCompute() {
    if (!call_.memory.exists()) return false;
    context_.emplace(call_.guest, call_.arg(0));
    if (!*context_ || !(*context_)->CanComputeAsync() || !asking_.Begin().ok()) return false;
    compute_ = call_.guest.MakeCompute(**context_, call_.memory, [this](std::optional<Status> status) {
      const auto outcome = [&] { return *std::move(status); };
      End(status ? ErrnoOf(errors_, call_, outcome) : call_.profile.error(WASINN_ERROR_RUNTIME));
    });
    compute_->Begin();
    return true;
  }
  bool BeginWait() {
    const auto end = [this] { End(ErrnoOf(errors_, call_, [this] { return EndWait(call_, *wait_); })); };
    return call_.memory.exists() && asking_.Begin().ok() && MakeWait(call_, end, wait_).ok() && wait_->Begin().ok();
  }

 private:
  void End(uint32_t result) noexcept {
    const Done done = std::move(done_);
    delete this;
    done(result);
  }

  const Invocation call_;
  const Errors errors_;
  Guest::Asking asking_;
  std::optional<Guest::Use> context_;
  std::unique_ptr<core::AsyncCompute> compute_;
  std::optional<Wait> wait_;
  Done done_;
};

bool Is(const wasinn_function& function, std::span<const wasinn_function> rows, std::string_view name) {
  return std::ranges::any_of(rows,
                             [&](const wasinn_function& row) { return row.call == function.call && row.name == name; });
}

// Whether it has begun; then it may have ended already.
template <bool (BegunCall::*kBegin)()>
bool Begin(const wasinn_call& call, const Profile& profile, wasinn_code answer, const Done& done) {
  auto begun = std::make_unique<BegunCall>(call, profile, answer, done);
  if (!(begun.get()->*kBegin)()) return false;
  (void)begun.release();
  return true;
}

}  // namespace

Status ComputeBegin(const Invocation& call) { return call.guest.BeginCompute(call.arg(0)); }

Status ComputePoll(const Invocation& call) { return call.guest.PollCompute(call.arg(0), call.memory); }

Status ComputeCancel(const Invocation& call) { return call.guest.CancelCompute(call.arg(0)); }

Status ComputeWait(const Invocation& call) {
  std::optional<Wait> wait;
  RETURN_IF_ERROR(MakeWait(call, nullptr, wait));
  RETURN_IF_ERROR(wait->Begin());
  wait->Await();
  return EndWait(call, *wait);
}

bool BeginWithoutThread(const wasinn_call& call, const Done& done) noexcept try {
  const wasinn_function& function = *call.function;
  if (call.memory == nullptr) return false;
  const Profile& profile = ProfileOf(call.guest->dialect());
  if (Is(function, ExtensionFunctions(), "compute_wait"))
    return Begin<&BegunCall::BeginWait>(call, profile, WASINN_ERROR_BUSY, done);
  if (Is(function, WitxFunctions(), "compute")) return Begin<&BegunCall::BeginCompute>(call, profile, WASINN_OK, done);
  if (Is(function, LegacyFunctions(), "compute"))
    return Begin<&BegunCall::BeginCompute>(call, kLegacy, WASINN_OK, done);
  return false;
} catch (const std::exception&) {  // no memory, before anything has begun
  return false;
}

}  // namespace wasinn::abi
