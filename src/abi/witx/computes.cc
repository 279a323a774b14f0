// Computes that a guest begins, and waits for later.
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
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

// A wait, up to where it waits.
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

// A wait that no thread waits for, from its beginning until the guest's errno is known.
class BegunWait {
 public:
  BegunWait(const wasinn_call& given, const std::function<void(uint32_t)>& done)
      : call_{*given.guest, ProfileOf(given.guest->dialect()), core::GuestMemory(*given.memory),
              static_cast<const uint8_t*>(given.args), given.stride},
        name_(given.function->name),
        asking_(*given.guest, {.may_block = true,
                               .large_stack = false,
                               .stack_left = SIZE_MAX,
                               .ended = given.ended,
                               .user = given.caller}),
        done_(done) {}

  // From here on it owns itself, if it begins. Every failure here also fails the other way, which reports it. Throws if
  // there is no memory, and then nothing has begun.
  static bool Begin(std::unique_ptr<BegunWait> self) {
    if (!self->call_.memory.exists() || !self->asking_.Begin().ok()) return false;
    BegunWait* const begun = self.get();
    if (!MakeWait(begun->call_, [begun] { begun->End(); }, begun->wait_).ok()) return false;
    if (!begun->wait_->Begin().ok()) return false;
    (void)self.release();  // it may have ended, and freed itself, before this
    return true;
  }

 private:
  void End() noexcept {
    const uint32_t result = Outcome();
    const auto done = std::move(done_);
    delete this;
    done(result);
  }
  uint32_t Outcome() noexcept try {
    const Status status = core::Guarded([&] { return EndWait(call_, *wait_); });
    if (!status.ok() && status.code() != WASINN_ERROR_BUSY) call_.guest.Report(name_, status);
    return status.ok() ? 0 : call_.profile.error(status.code());
  } catch (const std::exception&) {  // no memory for the message
    return call_.profile.error(WASINN_ERROR_RUNTIME);
  }

  const Invocation call_;
  const char* const name_;
  Guest::Asking asking_;
  std::optional<Wait> wait_;
  std::function<void(uint32_t)> done_;
};

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

bool BeginComputeWait(const wasinn_call& call, const std::function<void(uint32_t)>& done) noexcept try {
  return BegunWait::Begin(std::make_unique<BegunWait>(call, done));
} catch (const std::exception&) {  // no memory, before anything has begun
  return false;
}

}  // namespace wasinn::abi
