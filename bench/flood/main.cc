// What the flood of one guest costs another: latencies of a guest with one thread, first without others, then next to a
// guest with one thread, then next to one with many. All use one model with one input of f32. There is no engine, as in
// many-guests.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include <wasinn/wasinn.hpp>

#include "bench/measure.h"
#include "bench/one_input_guest.h"

namespace wasinn::bench {
namespace {
using SteadyClock = std::chrono::steady_clock;

// A guest that computes without an end, with a thread for each of its contexts.
class Flood {
 public:
  Flood(const wasinn::Host& host, const std::vector<uint32_t>& dims, int contexts) : guest_(host, dims, contexts) {
    for (int i = 0; i < contexts; ++i) {
      threads_.emplace_back([this, i] {
        while (!ends_) guest_.Compute(static_cast<size_t>(i));
      });
    }
  }
  ~Flood() {
    ends_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  Flood(const Flood&) = delete;
  Flood& operator=(const Flood&) = delete;

 private:
  OneInputGuest guest_;
  std::atomic<bool> ends_{false};
  std::vector<std::thread> threads_;
};

Percentiles LatencyUs(OneInputGuest& guest, int iterations) {
  Samples samples;
  for (int i = 0; i < iterations; ++i) {
    const auto start = SteadyClock::now();
    guest.Compute();
    samples.push_back(static_cast<uint32_t>(std::chrono::nanoseconds(SteadyClock::now() - start).count()));
  }
  return PercentilesUs(samples);
}

void Print(const std::string& beside, const Percentiles& us, const Percentiles& alone) {
  fmt::print("{}: p50 {:.1f} us ({:.2f} x alone), p99 {:.1f} us ({:.2f} x)\n", beside, us.p50, us.p50 / alone.p50,
             us.p99, us.p99 / alone.p99);
}

int Main(int argc, char** argv) {
  CLI::App app("Time a guest without others, next to another one, and next to one that floods the host");
  std::string model, most = "2";
  std::vector<uint32_t> dims = {1, 3, 224, 224};
  int flood = 32, iterations = 1000;
  app.add_option("MODEL", model, "A model file")->required();
  app.add_option("--dims", dims, "Dims of its input; default 1 3 224 224");
  app.add_option("--flood", flood, "Threads of the guest that floods; default 32");
  app.add_option("--iterations", iterations, "Inferences that are timed; default 1000");
  app.add_option("--max-computes", most, "As in the settings; default 2");
  CLI11_PARSE(app, argc, argv);

  wasinn::Config config;
  Must(config.Set("max_computes", most));
  wasinn::ModelOptions options;
  options.path = model;
  const wasinn::Host host = HostOf(config, options);
  OneInputGuest guest(host, dims);
  (void)LatencyUs(guest, 10);
  const Percentiles alone = LatencyUs(guest, iterations);
  Print("alone", alone, alone);
  for (const int threads : {1, flood}) {
    const Flood other(host, dims, threads);
    Print(fmt::format("beside a guest of {} threads", threads), LatencyUs(guest, iterations), alone);
  }
  return 0;
}

}  // namespace
}  // namespace wasinn::bench

int main(int argc, char** argv) try { return wasinn::bench::Main(argc, argv); } catch (const std::exception& error) {
  std::fprintf(stderr, "flood: %s\n", error.what());
  return 1;
}
