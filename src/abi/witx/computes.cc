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
#include "abi/witx/witx.h"

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
  virtual ~BegunCall() = default;

  // Whether it has begun; then it frees itself at its end. Every failure here also fails the usual way, which reports
  // it. Throws if there is no memory, and then nothing has begun.
  static bool Begin(std::unique_ptr<BegunCall> call) {
    const bool begun = call->call_.memory.exists() && call->BeginNow();
    if (begun) (void)call.release();  // it may have ended before this
    return begun;
  }

 protected:
  BegunCall(const wasinn_call& given, const Profile& profile, wasinn_code answer, const Done& done)
      : call_{*given.guest, profile, core::GuestMemory(*given.memory), static_cast<const uint8_t*>(given.args),
              given.stride},
        errors_{given.function->name, answer, nullptr},
        asking_(*given.guest, given.ended, given.caller),
        done_(done) {}
  virtual bool BeginNow() = 0;
  void End(uint32_t result) noexcept {
    const Done done = std::move(done_);
    delete this;
    done(result);
  }

  const Invocation call_;
  const Errors errors_;
  Guest::Asking asking_;

 private:
  Done done_;
};

class BegunCompute final : public BegunCall {
 public:
  BegunCompute(const wasinn_call& call, const Profile& profile, const Done& done)
      : BegunCall(call, profile, WASINN_OK, done), context_(call_.guest, call_.arg(0)) {}

 private:
  bool BeginNow() override {
    if (!context_ || !context_->CanComputeAsync() || !asking_.Begin().ok()) return false;
    compute_ = call_.guest.MakeCompute(*context_, call_.memory, [this](std::optional<Status> status) {
      const auto outcome = [&] { return *std::move(status); };
      End(status ? ErrnoOf(errors_, call_, outcome) : call_.profile.error(WASINN_ERROR_RUNTIME));
    });
    compute_->Begin();
    return true;
  }

  Guest::Use context_;
  std::unique_ptr<core::AsyncCompute> compute_;
};

class BegunWait final : public BegunCall {
 public:
  BegunWait(const wasinn_call& call, const Done& done)
      : BegunCall(call, ProfileOf(call.guest->dialect()), WASINN_ERROR_BUSY, done) {}

 private:
  bool BeginNow() override {
    const auto end = [this] { End(ErrnoOf(errors_, call_, [this] { return EndWait(call_, *wait_); })); };
    return asking_.Begin().ok() && MakeWait(call_, end, wait_).ok() && wait_->Begin().ok();
  }

  std::optional<Wait> wait_;
};

bool Is(const wasinn_function& function, std::span<const wasinn_function> rows, std::string_view name) {
  return std::ranges::any_of(rows,
                             [&](const wasinn_function& row) { return row.call == function.call && row.name == name; });
}

std::unique_ptr<BegunCall> MakeBegun(const wasinn_call& call, const Done& done) {
  const wasinn_function& function = *call.function;
  if (Is(function, ExtensionFunctions(), "compute_wait")) return std::make_unique<BegunWait>(call, done);
  if (Is(function, WitxFunctions(), "compute"))
    return std::make_unique<BegunCompute>(call, ProfileOf(call.guest->dialect()), done);
  if (Is(function, LegacyFunctions(), "compute")) return std::make_unique<BegunCompute>(call, kLegacy, done);
  return nullptr;
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
  std::unique_ptr<BegunCall> begun = call.memory == nullptr ? nullptr : MakeBegun(call, done);
  return begun != nullptr && BegunCall::Begin(std::move(begun));
} catch (const std::exception&) {  // no memory, before anything has begun
  return false;
}

}  // namespace wasinn::abi
