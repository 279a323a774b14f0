// What it costs components to be set aside: inferences per second of many guests that are all in flight on one thread,
// compared with as many guests on threads that wait, in turns. Guests in flight can be of wasi:nn@0.3.0-draft, and await
// several computes at once.
#include <fmt/format.h>
#include <sys/resource.h>
#include <wasinn/wasmtime.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>
#include <wasinn/wasinn.hpp>

#include "bench/component_engine.h"
#include "bench/component_values.h"
#include "bench/direct_guest.h"
#include "bench/measure.h"
#include "engines/wasmtime/errors.h"
#include "engines/wasmtime/handles.h"

// Made by bench/embed.cmake.
extern const unsigned char wasinn_bench_component[], wasinn_bench_async_component[];
extern const unsigned long wasinn_bench_component_size, wasinn_bench_async_component_size;

namespace wasinn::bench {
namespace {

using engines::Result;
using wasmtime::ComponentLinkerPtr;
using wasmtime::ComponentPrePtr;
using wasmtime::ComponentPtr;
using wasmtime::EnginePtr;
using wasmtime::ExportIndexPtr;
using wasmtime::StorePtr;
using wasmtime::TakeError;

using wasinn::bench::Must;
void Must(wasmtime_error_t* error) { Must(TakeError(error)); }

// Guests that can continue; any thread adds them.
template <typename Guest>
class Ready {
 public:
  void Add(Guest* guest) {
    const std::lock_guard lock(mutex_);
    guests_.push_back(guest);
    changed_.notify_one();
  }
  std::vector<Guest*> Take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !guests_.empty(); });
    return std::exchange(guests_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Guest*> guests_;
};

enum class Kind : uint8_t { kWaits, kRests, kRestsByDraft };

// The component, compiled once, and linked for threads that wait or for futures.
struct Program {
  explicit Program(Kind kind);

  const EnginePtr engine;
  const bool is_async;
  ComponentPtr component;
  ComponentPrePtr pre;
};

// A guest with its store and its input. Its work is the export iterate.
class Guest {
 public:
  // `contexts`: that it computes with at once.
  Guest(const Program& program, const wasinn::Host& host, const Arguments& arguments, int contexts, Ready<Guest>& ready)
      : guest_(std::move(*wasinn::Guest::Create(host))),
        is_async_(program.is_async),
        ready_(ready),
        store_(wasmtime_store_new(program.engine.get(), this, nullptr)) {
    wasmtime_context_t* context = wasmtime_store_context(store_.get());
    wasinn_wasmtime_component_set_up(context, guest_.get());
    wasmtime_component_instance_t instance;
    if (is_async_) {
      Begin(wasinn_wasmtime_component_pre_instantiate_async(program.pre.get(), context, &instance, &error_));
      Finish();
    } else {
      Must(wasinn_wasmtime_component_pre_instantiate(program.pre.get(), context, &instance));
    }
    Call(Find(program, instance, "prepare"), arguments.values());
    for (int i = 1; i < contexts; ++i) Call(Find(program, instance, "add-context"), {});
    iterate_ = Find(program, instance, "iterate");
  }
  ~Guest() { guest_.Close(); }
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

  // For guests that wait on their thread.
  void Iterate() { Call(iterate_, {}); }

  // For guests with futures: begins `n` inferences, and runs until the first pause.
  void BeginIterations(int iterations) {
    left_ = iterations;
    BeginCall(iterate_, {});
  }
  // Continues. Returns true once all inferences are done. A wake can be for a call that the guest has already seen end.
  bool GoOn() {
    while (left_ > 0 && wasmtime_call_future_poll(future_)) {
      EndCall();
      if (--left_ > 0) BeginCall(iterate_, {});
    }
    return left_ == 0 && !std::exchange(is_reported_, true);
  }
  void Reset() { is_reported_ = false; }

  static wasinn_guest* GuestOf(wasmtime_context_t* context, void*) {
    return static_cast<Guest*>(wasmtime_context_get_data(context))->guest_.get();
  }
  static wasinn_wasmtime_async_caller CallerOf(wasmtime_context_t* context, void*) {
    auto* self = static_cast<Guest*>(wasmtime_context_get_data(context));
    const auto wake = [](void* user) { static_cast<Guest*>(user)->ready_.Add(static_cast<Guest*>(user)); };
    return {self->guest_.get(), nullptr, wake, self};
  }

 private:
  wasmtime_component_func_t Find(const Program& program, const wasmtime_component_instance_t& instance,
                                 std::string_view name) {
    const ExportIndexPtr index(
        wasmtime_component_get_export_index(program.component.get(), nullptr, name.data(), name.size()));
    wasmtime_component_func_t function{};
    wasmtime_component_instance_get_func(&instance, wasmtime_store_context(store_.get()), index.get(), &function);
    return function;
  }

  void Call(const wasmtime_component_func_t& function, std::span<const Value> args) {
    if (is_async_) {
      BeginCall(function, args);
      Finish();
      return Check();
    }
    wasmtime_context_t* context = wasmtime_store_context(store_.get());
    Must(wasmtime_component_func_call(&function, context, args.data(), args.size(), &result_, 1));
    Check();
  }
  void BeginCall(const wasmtime_component_func_t& function, std::span<const Value> args) {
    wasmtime_context_t* context = wasmtime_store_context(store_.get());
    Begin(
        wasinn_wasmtime_component_func_call_async(&function, context, args.data(), args.size(), &result_, 1, &error_));
  }
  void Begin(wasmtime_call_future_t* future) {
    if (future == nullptr) Must(std::exchange(error_, nullptr));
    future_ = future;
  }
  void EndCall() {
    Delete();
    Check();
  }
  void Delete() {
    wasmtime_call_future_delete(future_);
    if (error_ != nullptr) Must(std::exchange(error_, nullptr));
  }
  // No other thread uses the guest yet, so this one waits for its wakes.
  void Finish() {
    while (!wasmtime_call_future_poll(future_)) (void)ready_.Take();
    Delete();
  }
  void Check() const {
    if (result_.of.u32 != 0) throw std::runtime_error(fmt::format("error-code {}", result_.of.u32 - 1));
  }

  wasinn::Guest guest_;
  const bool is_async_;
  Ready<Guest>& ready_;
  const StorePtr store_;
  wasmtime_component_func_t iterate_ = {};
  Value result_{};
  wasmtime_error_t* error_ = nullptr;
  wasmtime_call_future_t* future_ = nullptr;
  int left_ = 0;
  bool is_reported_ = false;
};

Program::Program(Kind kind) : engine(NewComponentEngine(kind == Kind::kRestsByDraft)), is_async(kind != Kind::kWaits) {
  const ComponentLinkerPtr linker(wasmtime_component_linker_new(engine.get()));
  const wasinn::Status linked(
      is_async ? wasinn_wasmtime_component_link_async(linker.get(), nullptr, Guest::CallerOf, nullptr)
               : wasinn_wasmtime_component_link(linker.get(), nullptr, Guest::GuestOf, nullptr));
  Must(linked);
  const bool is_draft = kind == Kind::kRestsByDraft;
  wasmtime_component_t* compiled = nullptr;
  Must(wasmtime_component_new(engine.get(), is_draft ? wasinn_bench_async_component : wasinn_bench_component,
                              is_draft ? wasinn_bench_async_component_size : wasinn_bench_component_size, &compiled));
  component.reset(compiled);
  wasinn_wasmtime_component_pre* linked_pre = nullptr;
  Must(wasinn_wasmtime_component_pre_new(linker.get(), compiled, &linked_pre));
  pre.reset(linked_pre);
}

using Guests = std::vector<std::unique_ptr<Guest>>;

Guests MakeGuests(const Program& program, const wasinn::Host& host, const Arguments& arguments, size_t count,
                  int contexts, Ready<Guest>& ready) {
  Guests guests;
  for (size_t i = 0; i < count; ++i)
    guests.push_back(std::make_unique<Guest>(program, host, arguments, contexts, ready));
  return guests;
}

// Each thread has its share of the guests, and makes one inference of each after the other.
void RunWaiting(const Guests& guests, size_t threads, int iterations) {
  std::vector<std::jthread> all;
  all.reserve(threads);
  for (size_t thread = 0; thread < threads; ++thread) {
    all.emplace_back([&guests, threads, iterations, thread] {
      for (int i = 0; i < iterations; ++i) {
        for (size_t guest = thread; guest < guests.size(); guest += threads) guests[guest]->Iterate();
      }
    });
  }
}

void RunResting(const Guests& guests, Ready<Guest>& ready, int iterations) {
  size_t left = guests.size();
  for (const auto& guest : guests) {
    guest->Reset();
    guest->BeginIterations(iterations);
  }
  for (const auto& guest : guests) left -= guest->GoOn() ? 1 : 0;
  while (left > 0) {
    for (Guest* guest : ready.Take()) left -= guest->GoOn() ? 1 : 0;
  }
}

struct Turn {
  double per_second;
  double cpu_ms;  // processor time of all threads per inference, without that of other programs
};

double CpuSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Turn Time(size_t inferences, const std::function<void()>& run) {
  const auto count = static_cast<double>(inferences);
  const double cpu = CpuSeconds();
  const auto start = std::chrono::steady_clock::now();
  run();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return {count / took.count(), 1000 * (CpuSeconds() - cpu) / count};
}

int Main(int argc, char** argv) {
  CLI::App app("Time many components on one model: all in flight on one thread, and on threads that wait");
  std::string model;
  size_t guests = 1000, threads = 2;
  int iterations = 4, turns = 5, contexts = 0;
  app.add_option("MODEL", model, "A model file")->required();
  app.add_option("--guests", guests, "Guests of each kind; default 1000");
  app.add_option("--threads", threads, "Threads that wait, and threads of the host for guests in flight; default 2");
  app.add_option("--iterations", iterations, "Inferences of each guest in a turn; default 4");
  app.add_option("--turns", turns, "Turns of each kind; default 5");
  app.add_option("--contexts", contexts,
                 "Guests in flight are of wasi:nn@0.3.0-draft, and each awaits this many computes at once; "
                 "default: guests of 2024-10-28");
  CLI11_PARSE(app, argc, argv);

  wasinn::Config config;
  Must(config.Set("call_threads", std::to_string(threads)));
  if (contexts > 0) Must(config.Set("max_computes", std::to_string(threads)));
  Must(config.Set("limits.compute_timeout_ms", "0"));  // all are begun at once
  wasinn::ModelOptions options;
  options.path = model;
  const wasinn::Host host = HostOf(config, options);
  auto signature = host.Inspect("m");
  Must(signature.status());
  const Arguments arguments("m", Must(MakeInputs(*signature, {})));
  Ready<Guest> ready;
  const Program blocking(Kind::kWaits), concurrent(contexts > 0 ? Kind::kRestsByDraft : Kind::kRests);
  const Guests waiting = MakeGuests(blocking, host, arguments, guests, 1, ready),
               resting = MakeGuests(concurrent, host, arguments, guests, contexts, ready);
  const int at_once = std::max(contexts, 1);
  const size_t inferences = guests * static_cast<size_t>(iterations * at_once);
  std::vector<double> rates, costs;
  for (int turn = 0; turn < turns; ++turn) {
    const Turn threads_wait = Time(inferences, [&] { RunWaiting(waiting, threads, iterations * at_once); });
    const Turn futures_rest = Time(inferences, [&] { RunResting(resting, ready, iterations); });
    rates.push_back(100 * futures_rest.per_second / threads_wait.per_second);
    costs.push_back(100 * futures_rest.cpu_ms / threads_wait.cpu_ms);
    fmt::print(
        "{} components on {} threads that wait: {:.1f} inferences/s, {:.3f} ms of processors each; all in flight on "
        "one: {:.1f}, {:.3f}\n",
        guests, threads, threads_wait.per_second, threads_wait.cpu_ms, futures_rest.per_second, futures_rest.cpu_ms);
    (void)std::fflush(stdout);
  }
  fmt::print("medians of turns: {:.1f} % of the rate, {:.1f} % of the processors' time\n", Median(rates),
             Median(costs));
  return 0;
}

}  // namespace
}  // namespace wasinn::bench

int main(int argc, char** argv) try { return wasinn::bench::Main(argc, argv); } catch (const std::exception& error) {
  std::fprintf(stderr, "async-components: %s\n", error.what());
  return 1;
}
