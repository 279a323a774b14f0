// How long a guest takes from nothing to its first result, if the host already has the model: a guest, an instance of a
// compiled module, load_by_name, a context, an inference. With --stay, the memory of guests that stay.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
#include <wasinn/wasinn.hpp>

#include "bench/direct_guest.h"
#include "bench/guest.h"
#include "bench/measure.h"
#include "bench/own_memory.h"

namespace wasinn::bench {
namespace {
using SteadyClock = std::chrono::steady_clock;

uint32_t NanosecondsSince(SteadyClock::time_point start) {
  return static_cast<uint32_t>(std::chrono::nanoseconds(SteadyClock::now() - start).count());
}

void Run(GuestRunner& guest) {
  if (!guest.Run()) throw std::runtime_error(guest.error());
}

int Main(int argc, char** argv) {
  CLI::App app("Time guests from their creation to their first inference, one after the other on one loaded model");
  std::string path;
  int guests = 2000;
  std::vector<std::string> engines = {"wasmtime", "wamr"};
  wasinn::engines::Pool pool;
  bool stay = false;
  app.add_option("MODEL", path, "A model file")->required();
  app.add_option("--guests", guests, "Guests one after the other; default 2000");
  app.add_option("--engine", engines, "Engines; default wasmtime and wamr");
  app.add_option("--pool", pool.instances, "Memories in Wasmtime's pool, as engine.pool_instances; default none");
  app.add_option("--pool-memory", pool.memory_bytes, "As engine.pool_memory_bytes");
  app.add_flag("--stay", stay, "Keep all guests until the last one exists, and print the memory that they use");
  CLI11_PARSE(app, argc, argv);

  wasinn::ModelOptions options;
  options.path = path;
  const wasinn::Host host = HostOf({}, options);
  auto signature = host.Inspect("m");
  Must(signature.status());
  const std::vector<Tensor> inputs = Must(MakeInputs(*signature, {}));
  std::vector<Tensor> outputs = Must(MakeOutputs(*signature));
  constexpr size_t kRoom = size_t{64} << 10;
  for (Tensor& output : outputs) output.data = Buffer(kRoom);

  for (const std::string& engine : engines) {
    const std::unique_ptr<GuestProgram> program = Must(CompileModule(engine, false, pool));
    Samples made, first, later, whole;
    std::vector<std::unique_ptr<GuestRunner>> all;
    const long before = wasinn::bench::MemoryKib("VmRSS:");
    for (int i = 0; i < guests; ++i) {
      const auto start = SteadyClock::now();
      std::unique_ptr<GuestRunner> guest = Must(program->NewGuest(host, "m", inputs, outputs));
      made.push_back(NanosecondsSince(start));
      Run(*guest);
      first.push_back(NanosecondsSince(start));
      const auto again = SteadyClock::now();
      Run(*guest);
      later.push_back(NanosecondsSince(again));
      if (stay) {
        all.push_back(std::move(guest));
      } else {
        guest.reset();
        whole.push_back(NanosecondsSince(start));
      }
    }
    const Percentiles to_first = PercentilesUs(first);
    fmt::print("{}: {:.1f} us to a guest with a context, {:.1f} to its first result (p99 {:.1f}); a later one {:.1f}\n",
               engine, PercentilesUs(made).p50, to_first.p50, to_first.p99, PercentilesUs(later).p50);
    if (!stay) fmt::print("{}: {:.1f} us until it is gone, with both results\n", engine, PercentilesUs(whole).p50);
    if (stay)
      fmt::print("{}: {} KiB for each of them\n", engine, (wasinn::bench::MemoryKib("VmRSS:") - before) / guests);
  }
  return 0;
}

}  // namespace
}  // namespace wasinn::bench

int main(int argc, char** argv) try { return wasinn::bench::Main(argc, argv); } catch (const std::exception& error) {
  std::fprintf(stderr, "new-guests: %s\n", error.what());
  return 1;
}
