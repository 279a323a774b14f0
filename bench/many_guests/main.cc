// What many guests take that all compute at once on one model: memory beside their own and their inputs, and inferences
// per second. No engine: each guest is a thread that calls the functions of wasinn.h on memory of its own.
#include <CLI/CLI.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>
#include <wasinn/wasinn.hpp>

#include "bench/direct_guest.h"

namespace {

using wasinn::bench::Must;

constexpr uint8_t kF32 = 1;  // in wasi-nn.witx

class Guest {
 public:
  Guest(const wasinn::Host& host, const std::vector<uint32_t>& dims, int contexts) : calls_(host, kData + Bytes(dims)) {
    *calls_.at(kName) = 'm';
    calls_.SetWords(kDims, dims);
    calls_.SetWords(kTensor, {kDims, static_cast<uint32_t>(dims.size()), kF32, kData, Bytes(dims)});
    calls_.Call("load_by_name", {kName, 1, kResult});
    const uint32_t graph = calls_.Word(kResult);
    for (int i = 0; i < contexts; ++i) {
      calls_.Call("init_execution_context", {graph, kResult});
      contexts_.push_back(calls_.Word(kResult));
      calls_.Call("set_input", {contexts_.back(), 0, kTensor});
    }
  }

  // On any thread; one for each context.
  void Compute(size_t context) { calls_.Call("compute", {contexts_[context]}); }
  // The same of the first, on a thread of the host's.
  void Begin(void (*done)(void* user, uint32_t result), void* user) {
    calls_.Begin(begun_, "compute", contexts_[0], done, user);
  }

 private:
  static constexpr uint32_t kName = 8, kResult = 16, kTensor = 32, kDims = 64, kData = 1024;  // addresses
  static uint32_t Bytes(const std::vector<uint32_t>& dims) {
    return std::accumulate(dims.begin(), dims.end(), static_cast<uint32_t>(sizeof(float)), std::multiplies<>());
  }

  wasinn::bench::DirectGuest calls_;
  wasinn::bench::DirectGuest::Begun begun_;
  std::vector<uint32_t> contexts_;
};

// All guests on this thread, each with one call under way: an event loop without an engine.
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
  std::vector<Turn*> ready_;  // of mutex_
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

// In MiB; a field of /proc/self/status.
long Memory(std::string_view field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field)) return std::stol(line.substr(field.size())) / 1024;
  }
  return 0;
}

int Run(int argc, char** argv) {
  CLI::App app("Time many guests at once on one model with one input of f32, and say what memory that takes");
  std::string model, most = "0", call_threads = "0";
  bool begun = false;
  std::vector<uint32_t> dims = {1, 3, 224, 224};
  int guests = 512, contexts = 1, iterations = 4;
  app.add_option("MODEL", model, "A model file")->required();
  app.add_option("--dims", dims, "Of its input; 1 3 224 224 unless told");
  app.add_option("--guests", guests, "512 unless told");
  app.add_option("--contexts", contexts, "Of each guest, with a thread for each; 1 unless told");
  app.add_option("--iterations", iterations, "Inferences of each context; 4 unless told");
  app.add_option("--max-computes", most, "As in the settings");
  app.add_flag("--begun", begun, "All on one thread, by wasinn_guest_call_begin, with one context of each guest");
  app.add_option("--call-threads", call_threads, "For --begun, as in the settings");
  CLI11_PARSE(app, argc, argv);

  wasinn::Config config;
  Must(config.Set("max_computes", most));
  Must(config.Set("call_threads", call_threads));
  wasinn::Result<wasinn::Host> host = wasinn::Host::Create(config);
  Must(host.status());
  wasinn::ModelOptions options;
  options.path = model;
  Must(host->AddModel("m", options));
  std::vector<std::unique_ptr<Guest>> all;
  all.reserve(static_cast<size_t>(guests));
  for (int i = 0; i < guests; ++i) all.push_back(std::make_unique<Guest>(*host, dims, contexts));

  const long before = Memory("VmRSS:");
  const auto start = std::chrono::steady_clock::now();
  if (begun) {
    Loop(all, iterations).Run();
  } else {
    RunOnThreads(all, contexts, iterations);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf("%d guests with their inputs: %ld MiB; %ld MiB more at most while all compute; %.1f inferences/s\n",
              guests, before, Memory("VmHWM:") - before, guests * contexts * iterations / took.count());
  return 0;
}

}  // namespace

int main(int argc, char** argv) try { return Run(argc, argv); } catch (const std::exception& error) {
  std::fprintf(stderr, "many-guests: %s\n", error.what());
  return 1;
}
