// serve-instances: what an instance costs a request in addition to its HTTP. The instance is fresh and its host has the
// model; or fresh and loads the model again (as preloading for each store does); or kept for many requests. They take
// turns.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>
#include <wasinn/wasinn.hpp>

#include "bench/direct_guest.h"
#include "bench/guest.h"
#include "bench/measure.h"

namespace {

using wasinn::bench::GuestProgram;
using wasinn::bench::GuestRunner;
using wasinn::bench::Must;
using wasinn::bench::Samples;
using wasinn::bench::Tensor;
using Clock = std::chrono::steady_clock;

template <typename T>
T Take(wasinn::bench::Result<T> result) {
  if (!result) throw std::runtime_error(result.error());
  return std::move(*result);
}

class Instances {
 public:
  explicit Instances(const std::string& path) : host_(Open(path)) {
    const auto signature = host_.Inspect("m");
    Must(signature.status());
    inputs_ = Take(wasinn::bench::MakeInputs(*signature, {}));
    outputs_ = Take(wasinn::bench::MakeOutputs(*signature));
    for (Tensor& output : outputs_) output.data = wasinn::bench::Buffer(size_t{64} << 10);
  }

  void Fresh() { Compute(*NewGuest()); }
  void Reloaded() {
    Must(host_.UnloadModel("m"));
    Fresh();
  }
  void Reused(int request, int requests) {
    if (request % requests == 0) kept_ = NewGuest();
    Compute(*kept_);
  }

 private:
  static wasinn::Host Open(const std::string& path) {
    wasinn::ModelOptions model;
    model.path = path;
    return wasinn::bench::HostOf({}, model);
  }
  std::unique_ptr<GuestRunner> NewGuest() { return Take(program_->NewGuest(host_, "m", inputs_, outputs_)); }
  static void Compute(GuestRunner& guest) {
    if (!guest.Run()) throw std::runtime_error(guest.error());
  }

  wasinn::Host host_;
  std::vector<Tensor> inputs_, outputs_;
  const std::unique_ptr<GuestProgram> program_ = Take(wasinn::bench::CompileModule("wasmtime", false, {}));
  std::unique_ptr<GuestRunner> kept_;
};

void Time(Samples& samples, const auto& what) {
  const auto start = Clock::now();
  what();
  samples.push_back(static_cast<uint32_t>(std::chrono::nanoseconds(Clock::now() - start).count()));
}

int Main(int argc, char** argv) {
  CLI::App app("Time an inference in a fresh instance, in one that loads its model again, and in one that is kept");
  std::string path;
  int requests = 2000, reused = 128;
  app.add_option("MODEL", path, "A model file")->required();
  app.add_option("--requests", requests, "Requests of each kind; default 2000");
  app.add_option("--reused", reused, "Requests of one instance that is kept; default 128")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  Instances instances(path);
  Samples fresh, reloaded, kept;
  for (int i = 0; i < requests; ++i) {
    Time(reloaded, [&] { instances.Reloaded(); });
    Time(fresh, [&] { instances.Fresh(); });
    Time(kept, [&] { instances.Reused(i, reused); });
  }
  const auto print = [](const char* name, const Samples& samples, const char* end) {
    double sum = 0;
    for (const auto sample : samples) sum += sample;
    const auto percentiles = wasinn::bench::PercentilesUs(samples);
    fmt::print(R"("{}": {{"mean_us": {:.1f}, "p50_us": {:.1f}, "p99_us": {:.1f}}}{})", name,
               sum / 1000 / static_cast<double>(samples.size()), percentiles.p50, percentiles.p99, end);
  };
  fmt::print("{{");
  print("fresh", fresh, ", ");
  print("reloaded", reloaded, ", ");
  print("reused", kept, "}\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) try { return Main(argc, argv); } catch (const std::exception& error) {
  std::fprintf(stderr, "serve-instances: %s\n", error.what());
  return 1;
}
