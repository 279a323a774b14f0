// The memory and the rates of many guests that all compute at once on one model: memory in addition to theirs and their
// inputs, and inferences per second. There is no engine: each guest is a thread that calls the functions of wasinn.h on
// its own memory.
#include <CLI/CLI.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>
#include <wasinn/wasinn.hpp>

#include "bench/one_input_guest.h"
#include "bench/own_memory.h"

namespace {

using wasinn::bench::Must;

using Guest = wasinn::bench::OneInputGuest;

// All guests on this thread, each with one call in flight: an event loop without an engine.
class Loop {
 public:
  Loop(const std::vector<std::unique_ptr<Guest>>& guests, int iterations) : left_(guests.size()) {
    for (const auto& guest : guests) turns_.push_back({this, guest.get(), iterations});
  }
  void Run() {
    for (Turn& turn : turns_) turn.guest->Begin(&Loop::Done, &turn);
    std::unique_lock lock(mutex_);
    while (left_ > 0) {
      changed_.wait(lock, [this] { return !ready_.empty(); });
      const std::vector<Turn*> ready = std::exchange(ready_, {});
      lock.unlock();
      for (Turn* turn : ready) {
        if (turn->error != 0) throw std::runtime_error("compute ended in error " + std::to_string(turn->error));
        if (--turn->left > 0) {
          turn->guest->Begin(&Loop::Done, turn);
        } else {
          --left_;
        }
      }
      lock.lock();
    }
  }

 private:
  struct Turn {
    Loop* loop;
    Guest* guest;
    int left;
    uint32_t error = 0;
  };
  static void Done(void* user, uint32_t result) {
    auto* turn = static_cast<Turn*>(user);
    turn->error = result;
    Loop& loop = *turn->loop;
    const std::lock_guard lock(loop.mutex_);
    loop.ready_.push_back(turn);
    loop.changed_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Turn*> ready_;  // guarded by mutex_
  std::vector<Turn> turns_;
  size_t left_;
};

void RunOnThreads(const std::vector<std::unique_ptr<Guest>>& guests, int contexts, int iterations) {
  std::vector<std::thread> threads;
  threads.reserve(guests.size() * static_cast<size_t>(contexts));
  for (const auto& guest : guests) {
    for (int context = 0; context < contexts; ++context) {
      threads.emplace_back([&guest, context, iterations] {
        for (int i = 0; i < iterations; ++i) guest->Compute(static_cast<size_t>(context));
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
}

int Run(int argc, char** argv) {
  CLI::App app("Time many guests at once on one model with one input of f32, and print the memory that they take");
  std::string model, most = "0", call_threads = "0";
  bool begun = false;
  std::vector<uint32_t> dims = {1, 3, 224, 224};
  int guests = 512, contexts = 1, iterations = 4;
  app.add_option("MODEL", model, "A model file")->required();
  app.add_option("--dims", dims, "Dims of its input; default 1 3 224 224");
  app.add_option("--guests", guests, "Guests at once; default 512");
  app.add_option("--contexts", contexts, "Contexts of each guest, with a thread for each; default 1");
  app.add_option("--iterations", iterations, "Inferences of each context; default 4");
  app.add_option("--max-computes", most, "As in the settings");
  app.add_flag("--begun", begun, "All on one thread, by wasinn_guest_call_begin, with one context of each guest");
  app.add_option("--call-threads", call_threads, "For --begun, as in the settings");
  CLI11_PARSE(app, argc, argv);

  wasinn::Config config;
  Must(config.Set("max_computes", most));
  Must(config.Set("call_threads", call_threads));
  wasinn::ModelOptions options;
  options.path = model;
  const wasinn::Host host = wasinn::bench::HostOf(config, options);
  std::vector<std::unique_ptr<Guest>> all;
  all.reserve(static_cast<size_t>(guests));
  for (int i = 0; i < guests; ++i) all.push_back(std::make_unique<Guest>(host, dims, contexts));

  const long before = wasinn::bench::MemoryKib("VmRSS:") / 1024;
  const auto start = std::chrono::steady_clock::now();
  if (begun) {
    Loop(all, iterations).Run();
  } else {
    RunOnThreads(all, contexts, iterations);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf("%d guests with their inputs: %ld MiB; %ld MiB more at most while all compute; %.1f inferences/s\n",
              guests, before, wasinn::bench::MemoryKib("VmHWM:") / 1024 - before,
              guests * contexts * iterations / took.count());
  return 0;
}

}  // namespace

int main(int argc, char** argv) try { return Run(argc, argv); } catch (const std::exception& error) {
  std::fprintf(stderr, "many-guests: %s\n", error.what());
  return 1;
}
