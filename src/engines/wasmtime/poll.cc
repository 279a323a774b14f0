#include "engines/wasmtime/poll.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "engines/wasmtime/caller_memory.h"
#include "engines/wasmtime/errors.h"

namespace wasinn::wasmtime {
namespace {

using std::chrono::nanoseconds;

using RunFinder = const engines::GuestRun& (*)(wasmtime_context_t*);

constexpr std::string_view kModule = "wasi_snapshot_preview1", kName = "poll_oneoff";

// The numbers of wasi_snapshot_preview1, and the offsets in its records.
enum Errno : uint16_t { kSuccess = 0, kBadFile = 8, kFault = 21, kInterrupted = 27, kInvalid = 28 };
enum Type : uint8_t { kClock = 0, kRead = 1, kWrite = 2 };
constexpr size_t kSubscription = 48, kEvent = 32;
constexpr uint32_t kRealtime = 0, kMonotonic = 1;
constexpr uint16_t kAbsolute = 1;
constexpr uint32_t kMaxSubscriptions = 4096;  // their memory counts for no guest

// How soon the end of a run is seen.
constexpr std::chrono::milliseconds kLookAgain{20};

template <typename T>
T At(std::span<const uint8_t> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

struct Event {
  uint64_t userdata;
  uint16_t error;
  uint8_t type;
};

void Write(const Event& event, std::span<uint8_t> to) {
  std::memset(to.data(), 0, to.size());
  std::memcpy(to.data(), &event.userdata, sizeof event.userdata);
  std::memcpy(to.data() + 8, &event.error, sizeof event.error);
  to[10] = event.type;
  if (event.type != kClock) to[16] = 1;  // bytes, at least
}

// A subscription to a clock, as the time from now on.
std::optional<nanoseconds> WaitOf(std::span<const uint8_t> subscription) {
  const auto clock = At<uint32_t>(subscription, 16);
  if (clock != kRealtime && clock != kMonotonic) return std::nullopt;
  constexpr uint64_t kMax = INT64_MAX;
  const auto timeout = nanoseconds(std::min(At<uint64_t>(subscription, 24), kMax));
  if ((At<uint16_t>(subscription, 40) & kAbsolute) == 0) return timeout;
  const nanoseconds now = clock == kRealtime ? std::chrono::system_clock::now().time_since_epoch()
                                             : std::chrono::steady_clock::now().time_since_epoch();
  return std::max(timeout - now, nanoseconds(0));
}

// The subscriptions, read once: a guest cannot change them afterwards.
class Poll {
 public:
  explicit Poll(std::span<const uint8_t> subscriptions) {
    for (size_t i = 0; i < subscriptions.size(); i += kSubscription) Add(subscriptions.subspan(i, kSubscription));
  }
  // False: the run is over.
  bool Wait(const engines::GuestRun& run) {
    if (!events_.empty()) return true;
    const auto start = std::chrono::steady_clock::now();
    const nanoseconds shortest = std::ranges::min(clocks_, {}, &Clock::wait).wait;
    for (nanoseconds left = shortest; left > nanoseconds(0);
         left = shortest - (std::chrono::steady_clock::now() - start)) {
      if (run.interrupted()) return false;
      std::this_thread::sleep_for(std::min<nanoseconds>(left, kLookAgain));
    }
    for (const Clock& clock : clocks_) {
      if (clock.wait == shortest) events_.push_back({clock.userdata, kSuccess, kClock});
    }
    return true;
  }
  const std::vector<Event>& events() const { return events_; }

 private:
  struct Clock {
    uint64_t userdata;
    nanoseconds wait;
  };

  void Add(std::span<const uint8_t> subscription) {
    const auto userdata = At<uint64_t>(subscription, 0);
    const uint8_t type = subscription[8];
    if (type == kClock) {
      const std::optional<nanoseconds> wait = WaitOf(subscription);
      wait ? clocks_.push_back({userdata, *wait}) : events_.push_back({userdata, kInvalid, type});
    } else if (type == kRead || type == kWrite) {
      const auto file = At<uint32_t>(subscription, 16);
      const bool is_stream = type == kRead ? file == 0 : file == 1 || file == 2;
      events_.push_back({userdata, is_stream ? kSuccess : kBadFile, type});
    } else {
      events_.push_back({userdata, kInvalid, type});
    }
  }

  std::vector<Event> events_;
  std::vector<Clock> clocks_;
};

// No value if it is outside of the memory.
std::optional<std::span<uint8_t>> Within(const wasinn_memory& memory, uint32_t address, uint64_t size) {
  if (address > memory.size || size > memory.size - address) return std::nullopt;
  return std::span(static_cast<uint8_t*>(memory.base) + address, static_cast<size_t>(size));
}

uint16_t PollOneoff(const wasinn_memory& memory, const uint32_t (&args)[4], const engines::GuestRun& run) {
  const auto [in, out, n, n_events] = args;
  if (n == 0 || n > kMaxSubscriptions) return kInvalid;
  const auto subscriptions = Within(memory, in, uint64_t{n} * kSubscription);
  const auto events = Within(memory, out, uint64_t{n} * kEvent);
  const auto count = Within(memory, n_events, sizeof(uint32_t));
  if (!subscriptions || !events || !count) return kFault;
  Poll poll(*subscriptions);
  if (!poll.Wait(run)) return kInterrupted;
  const auto written = static_cast<uint32_t>(poll.events().size());
  for (uint32_t i = 0; i < written; ++i) Write(poll.events()[i], events->subspan(i * kEvent, kEvent));
  std::memcpy(count->data(), &written, sizeof written);
  return kSuccess;
}

wasm_trap_t* Call(void* env, wasmtime_caller_t* caller, wasmtime_val_raw_t* values, size_t) {
  wasmtime_context_t* context = wasmtime_caller_context(caller);
  const CallerMemory memory(caller, context, nullptr);
  uint32_t args[4];
  for (size_t i = 0; i < std::size(args); ++i) args[i] = static_cast<uint32_t>(values[i].i32);
  try {
    values[0].i64 = PollOneoff(*memory.view(), args, (*static_cast<RunFinder*>(env))(context));
    return nullptr;
  } catch (const std::exception& error) {
    return wasmtime_trap_new(error.what(), std::strlen(error.what()));
  }
}

}  // namespace

engines::Result<void> DefinePoll(wasmtime_linker_t* linker, RunFinder run_of) {
  wasm_valtype_vec_t params, results;
  wasm_valtype_t* four[] = {wasm_valtype_new_i32(), wasm_valtype_new_i32(), wasm_valtype_new_i32(),
                            wasm_valtype_new_i32()};
  wasm_valtype_t* one[] = {wasm_valtype_new_i32()};
  wasm_valtype_vec_new(&params, std::size(four), four);
  wasm_valtype_vec_new(&results, std::size(one), one);
  const std::unique_ptr<wasm_functype_t, decltype(&wasm_functype_delete)> type(wasm_functype_new(&params, &results),
                                                                               wasm_functype_delete);
  wasmtime_linker_allow_shadowing(linker, true);
  auto defined = TakeError(wasmtime_linker_define_func_unchecked(
      linker, kModule.data(), kModule.size(), kName.data(), kName.size(), type.get(), Call, new RunFinder(run_of),
      [](void* env) { delete static_cast<RunFinder*>(env); }));
  wasmtime_linker_allow_shadowing(linker, false);
  return defined;
}

}  // namespace wasinn::wasmtime
