#include "engines/wasmtime/guest_threads.h"

#include <pthread.h>

#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include "engines/wasmtime/errors.h"
#include "engines/wasmtime/exports.h"
#include "engines/wasmtime/wake_parked.h"
#include "engines/wasmtime/wasi.h"

namespace wasinn::wasmtime {
namespace {

using engines::Exit;
using engines::Result;
using engines::RunOptions;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr size_t kStackSize = size_t{8} << 20;  // of a host thread: the size that frameworks expect
constexpr int32_t kLastNumber = (1 << 29) - 1;  // wasi-threads keeps the upper bits for itself
constexpr milliseconds kTick(5);                // an epoch while threads are being ended
constexpr milliseconds kGrace(1000);            // later than that, threads cannot be ended

wasmtime_error_t* OnEpochOfThread(wasmtime_context_t*, void* threads, uint64_t* delta,
                                  wasmtime_update_deadline_kind_t*) {
  *delta = 1;
  return static_cast<const GuestThreads*>(threads)->ended() ? wasmtime_error_new("the guest has ended") : nullptr;
}

RunOptions WithoutGuest(RunOptions options) {
  options.guest = nullptr;
  return options;
}

// Whether an instance's "memory" is this one.
bool Exports(wasmtime_context_t* context, const wasmtime_instance_t& instance, const wasmtime_sharedmemory_t* memory) {
  wasmtime_extern_t item;
  if (!wasmtime_instance_export_get(context, &instance, kMemory, sizeof kMemory - 1, &item)) return false;
  const bool same = item.kind == WASMTIME_EXTERN_SHAREDMEMORY &&
                    wasmtime_sharedmemory_data(item.of.sharedmemory) == wasmtime_sharedmemory_data(memory);
  wasmtime_extern_delete(&item);
  return same;
}

}  // namespace

// The arguments of a host thread.
struct GuestThreads::Beginning {
  std::shared_ptr<GuestThreads> threads;
  int32_t number;
  int32_t argument;
};

GuestThreads::GuestThreads(ThreadedModule module, const StoreLimits& limits, const RunOptions& options)
    : module_(std::move(module)),
      limits_(limits),
      options_(WithoutGuest(options)),
      guest_(wasinn_guest_retain(options.guest)) {
  memory_.kind = WASMTIME_EXTERN_SHAREDMEMORY;
  memory_.of.sharedmemory = module_.memory.get();
}

Exit GuestThreads::Run() {
  threads_.insert(0);
  engines::GuestRun run(guest_.get(), [this] { End(Exit()); });
  if (!run.begun()) return Exit::Failed(run.begun().error());
  if (!StartThread(0, 0)) return Exit::Failed("the system gives no thread for the guest");
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_.load(); });
  }
  Exit exit = run.End(exit_);  // constant by now; without the lock, because an interrupt may wait for it
  // Threads inside come out, and later calls are refused, even after the guest was freed.
  if (guest_ != nullptr) wasinn_guest_close(guest_.get());
  StopThreads();
  const std::lock_guard lock(mutex_);
  if (threads_.empty()) module_ = {};  // here, and not on a thread that is just leaving
  return exit;
}

int32_t GuestThreads::Spawn(int32_t argument) noexcept {
  try {
    int32_t number = 0;
    {
      const std::lock_guard lock(mutex_);
      if (ended_ || threads_.size() > options_.max_threads) return -1;  // the first is not one of them
      do last_number_ = last_number_ == kLastNumber ? 1 : last_number_ + 1;
      while (threads_.contains(last_number_));
      number = last_number_;
      threads_.insert(number);
    }
    if (StartThread(number, argument)) return number;
    Leave(number);
    return -1;
  } catch (const std::exception&) {  // no memory
    return -1;
  }
}

bool GuestThreads::StartThread(int32_t number, int32_t argument) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, kStackSize);
  std::unique_ptr<Beginning> beginning(new (std::nothrow) Beginning{shared_from_this(), number, argument});
  pthread_t thread;
  const bool started = beginning != nullptr && pthread_create(&thread, &attributes, RunThread, beginning.get()) == 0;
  pthread_attr_destroy(&attributes);
  if (started) (void)beginning.release();  // it belongs to the thread now
  return started;
}

void* GuestThreads::RunThread(void* argument) {
  const std::unique_ptr<Beginning> beginning(static_cast<Beginning*>(argument));
  GuestThreads& self = *beginning->threads;
  std::optional<Exit> exit;
  try {
    exit = self.RunInStore(beginning->number, beginning->argument);
  } catch (const std::exception&) {  // the frames below are the system's
    exit = Exit::Failed("the host is out of memory");
  }
  // A thread that returns only ends itself, unless it is the first.
  if (!exit && beginning->number == 0) exit = Exit();
  if (exit) self.End(std::move(*exit));
  self.Leave(beginning->number);
  return nullptr;
}

std::optional<Exit> GuestThreads::RunInStore(int32_t number, int32_t argument) {
  const StorePtr store(wasmtime_store_new(module_.engine.get(), this, nullptr));
  limits_.Hold(store.get());
  wasmtime_store_epoch_deadline_callback(store.get(), OnEpochOfThread, this, nullptr);
  wasmtime_context_t* context = wasmtime_store_context(store.get());
  wasmtime_context_set_epoch_deadline(context, 1);
  if (ended_) return std::nullopt;  // read after the deadline was set: the callback sees later ends
  return CallGuest(context, number, argument);
}

std::optional<Exit> GuestThreads::CallGuest(wasmtime_context_t* context, int32_t number, int32_t argument) {
  if (Result<void> wasi = SetWasi(context, options_); !wasi) return Exit::Failed(wasi.error());
  if (number == 0) SetUp(context);
  wasmtime_instance_t instance;
  wasm_trap_t* trap = nullptr;
  wasmtime_error_t* error = wasmtime_instance_pre_instantiate(module_.instance_pre.get(), context, &instance, &trap);
  if (error != nullptr || trap != nullptr) return ToExit(error, trap);
  if (Exports(context, instance, module_.memory.get())) exports_memory_ = true;
  const std::string_view name = number == 0 ? kStart : kThreadStart;
  wasmtime_extern_t function;
  wasmtime_instance_export_get(context, &instance, name.data(), name.size(), &function);  // it was there at Load
  const wasmtime_val_t values[] = {{.kind = WASMTIME_I32, .of = {.i32 = number}},
                                   {.kind = WASMTIME_I32, .of = {.i32 = argument}}};
  error = wasmtime_func_call(context, &function.of.func, values, number == 0 ? 0 : 2, nullptr, 0, &trap);
  if (error == nullptr && trap == nullptr) return std::nullopt;
  return ToExit(error, trap);
}

// Raises Wasmtime's guard against large calls of WASI only for the first thread: bytes that are read into a shared
// memory, or written from it, are copied, and each thread could make the host hold as many at once.
void GuestThreads::SetUp(wasmtime_context_t* context) { wasinn_wasmtime_component_set_up(context, guest_.get()); }

void GuestThreads::End(Exit exit) {
  const std::lock_guard lock(mutex_);
  if (!ended_) exit_ = std::move(exit);
  ended_ = true;
  changed_.notify_all();
}

void GuestThreads::Leave(int32_t number) {
  const std::lock_guard lock(mutex_);
  threads_.erase(number);
  changed_.notify_all();
}

// Compiled code checks the epoch in each loop and function. A store that is just being checked may miss one, so there
// are ticks. Threads that wait for a notification get one.
void GuestThreads::StopThreads() {
  const auto end = steady_clock::now() + kGrace;
  const auto goes_on = [&](milliseconds wait) {
    wasmtime_engine_increment_epoch(module_.engine.get());
    return !AllGone(wait) && steady_clock::now() < end;
  };
  for (int ticks = 0; goes_on(kTick); ++ticks) {
    if (ticks < 2) continue;
    WakeParked(module_.engine.get(), module_.memory.get(), [&] { return goes_on(milliseconds(0)); });
  }
}

bool GuestThreads::AllGone(milliseconds most) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, most, [this] { return threads_.empty(); });
}

}  // namespace wasinn::wasmtime
