#include "bench/allocations.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "bench/module_path.h"

namespace wasinn::bench {
namespace {

constexpr char kLibrary[] = "libwasinn_count_allocations.so";
constexpr char kPreload[] = "LD_PRELOAD";
// Set for the second run, so that there is never a third one.
constexpr char kTried[] = "WASINN_BENCH_COUNTER_TRIED";

using Counter = uint64_t (*)();

Counter FindCounter() { return reinterpret_cast<Counter>(dlsym(RTLD_DEFAULT, "wasinn_count_allocations")); }

std::vector<std::string> OwnArguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::vector<std::string> args;
  for (size_t at = 0; at < all.size(); at = all.find('\0', at) + 1) args.emplace_back(all.c_str() + at);
  return args;
}

}  // namespace

void RunUnderCounter() {
  const std::string library = PathBesideBackends(kLibrary);
  std::vector<std::string> args = OwnArguments();
  if (FindCounter() != nullptr || library.empty() || args.empty() || std::getenv(kTried) != nullptr) return;
  const char* others = std::getenv(kPreload);
  const std::string preload = others == nullptr || *others == '\0' ? library : library + ":" + others;
  setenv(kPreload, preload.c_str(), 1);
  setenv(kTried, "1", 1);
  std::vector<char*> argv;
  argv.reserve(args.size() + 1);
  for (std::string& arg : args) argv.push_back(arg.data());
  argv.push_back(nullptr);
  execv("/proc/self/exe", argv.data());
}

Result<std::optional<double>> CountAllocations(Runner& runner, uint64_t inferences) {
  const Counter counter = FindCounter();
  if (counter == nullptr) return std::nullopt;
  constexpr int kWarmUp = 3;
  for (int i = 0; i < kWarmUp; ++i) {
    if (!runner.Run()) return std::unexpected(runner.error());
  }
  const uint64_t before = counter();
  for (uint64_t i = 0; i < inferences; ++i) {
    if (!runner.Run()) return std::unexpected(runner.error());
  }
  return static_cast<double>(counter() - before) / static_cast<double>(inferences);
}

}  // namespace wasinn::bench
