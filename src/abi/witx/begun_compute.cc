
#include <algorithm>
#include <exception>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "abi/profiles.h"
#include "abi/witx/call.h"
#include "abi/witx/witx.h"

namespace wasinn::abi {
namespace {

using core::Guest;
using core::Status;
using Done = std::function<void(uint32_t)>;

bool Is(const wasinn_function& function, std::span<const wasinn_function> rows, std::string_view name) {
  return std::ranges::any_of(rows,
                             [&](const wasinn_function& row) { return row.call == function.call && row.name == name; });
}

// The profile for the guest's errnos, if the function is a compute of a context.
const Profile* ProfileOfCompute(const wasinn_function& function, const Guest& guest) {
  if (Is(function, WitxFunctions(), "compute")) return &ProfileOf(guest.dialect());
  return Is(function, LegacyFunctions(), "compute") ? &kLegacy : nullptr;
}

// A compute from its beginning until the guest's errno is known. It stands for Enter and Guest::Run of other calls.
class BegunCompute {
 public:
  BegunCompute(const wasinn_call& call, const Profile& profile, const Done& done)
      : guest_(*call.guest),
        name_(call.function->name),
        profile_(profile),
        memory_(*call.memory),
        asking_(
            guest_,
            {.may_block = true, .large_stack = true, .stack_left = SIZE_MAX, .ended = call.ended, .user = call.caller}),
        context_(guest_, FirstArgument(call.args)),
        done_(done) {}

  // Whether this way works. Every failure here also fails the other way, which reports it.
  bool MakeReady() {
    if (!memory_.exists() || !context_ || !context_->CanComputeAsync() || !asking_.Begin().ok()) return false;
    compute_ = guest_.MakeCompute(*context_, memory_, [this](const Status* status) { End(status); });
    return true;
  }
  // From here on it owns itself.
  static void Begin(std::unique_ptr<BegunCompute> self) noexcept { self.release()->compute_->Begin(); }

 private:
  void End(const Status* status) noexcept {
    const uint32_t result = Outcome(status);
    const Done done = std::move(done_);
    delete this;
    done(result);
  }
  uint32_t Outcome(const Status* status) noexcept try {
    if (status == nullptr) return profile_.error(WASINN_ERROR_RUNTIME);
    if (status->ok()) return 0;
    guest_.Report(name_, *status);
    return profile_.error(status->code());
  } catch (const std::exception&) {  // no memory for the message
    return profile_.error(status->code());
  }

  Guest& guest_;
  const char* const name_;
  const Profile& profile_;
  const core::GuestMemory memory_;
  Guest::Asking asking_;
  Guest::Use context_;
  std::unique_ptr<core::AsyncCompute> compute_;
  Done done_;
};

}  // namespace

bool BeginWithoutThread(const wasinn_call& call, const Done& done) noexcept {
  if (call.memory == nullptr) return false;
  return Is(*call.function, ExtensionFunctions(), "compute_wait") ? BeginComputeWait(call, done)
                                                                  : BeginCompute(call, done);
}

bool BeginCompute(const wasinn_call& call, const Done& done) noexcept try {
  const Profile* const profile = ProfileOfCompute(*call.function, *call.guest);
  if (profile == nullptr) return false;
  auto compute = std::make_unique<BegunCompute>(call, *profile, done);
  if (!compute->MakeReady()) return false;
  BegunCompute::Begin(std::move(compute));
  return true;
} catch (const std::exception&) {  // no memory, before anything has begun
  return false;
}

}  // namespace wasinn::abi
