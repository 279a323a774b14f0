#include "llama/library_call.h"

#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "common/large_stack.h"
#include "common/throw.h"
#include "llama/thread_stderr.h"

namespace wasinn::llama {

using backend::Error;
using backend::Throw;

namespace {

using CString = std::unique_ptr<char, decltype(&std::free)>;

// The data of a running call for its callback `go_on`.
struct Running {
  const CallBounds& bounds;
  const uint64_t before;  // reserved bytes
  std::optional<Error> refused;

  static int GoOn(void* user, uint64_t bytes) {
    auto* self = static_cast<Running*>(user);
    const CallBounds& bounds = self->bounds;
    if (bounds.cancelled != nullptr && *bounds.cancelled) return 0;
    if (bounds.reservation == nullptr) return 1;
    try {
      bounds.reservation->Resize(self->before + bytes);
    } catch (Error& error) {
      self->refused = std::move(error);
      return 0;
    } catch (...) {  // no C++ exception may pass through a library with its own C++ runtime
      return 0;
    }
    return 1;
  }
};

}  // namespace

std::string RunLibraryCall(const std::string& what, const CallBounds& bounds, const CallLimits& limits,
                           const std::function<int(wasinn_llama_call*)>& run) {
  const uint64_t held = bounds.held == nullptr ? 0 : *bounds.held;
  const uint64_t before = bounds.reservation == nullptr ? 0 : bounds.reservation->bytes() - held;
  Running running = {.bounds = bounds, .before = before, .refused = std::nullopt};
  wasinn_llama_call call = {.most_bytes = limits.bytes,
                            .most_steps = limits.steps,
                            .stack = limits.stack_of_call,
                            .go_on = Running::GoOn,
                            .user = &running,
                            .kept = held,
                            .text = nullptr};
  int status = WASINN_LLAMA_OK;
  if (limits.here) {
    status = run(&call);
  } else {
    backend::RunOnLargeStack(limits.stack, [&] {
      const ThreadStderr printed;  // llama.cpp prints warnings about ignored parts of a schema
      status = run(&call);
    });
  }
  const CString text(call.text, std::free);
  const uint64_t kept = status == WASINN_LLAMA_OK ? call.kept : held;
  if (bounds.held != nullptr) *bounds.held = kept;
  if (bounds.reservation != nullptr) bounds.reservation->Resize(before + kept);
  if (running.refused) throw *std::move(running.refused);
  if (status == WASINN_LLAMA_STOPPED) Throw(WASINN_ERROR_TIMEOUT, "the generation was cancelled");
  if (status != WASINN_LLAMA_OK || text == nullptr) {
    throw NotTaken(status == WASINN_LLAMA_WRONG ? WASINN_ERROR_INVALID_ARGUMENT : WASINN_ERROR_TOO_LARGE,
                   fmt::format("{}: {}", what, text == nullptr ? "out of memory" : text.get()));
  }
  return text.get();
}

}  // namespace wasinn::llama
