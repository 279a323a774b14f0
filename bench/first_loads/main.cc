// How long guests wait for their first load of a model of their own, one guest after the other in one host, and how
// much memory belongs only to an idle worker. There is no engine: see direct_guest.h.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include <wasinn/wasinn.hpp>

#include "bench/direct_guest.h"

namespace {

using wasinn::bench::DirectGuest;
using wasinn::bench::Must;
using Clock = std::chrono::steady_clock;

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The sum of all numbers of a field in a file of /proc; 0 without one.
double Sum(const std::string& path, const std::string& field) {
  std::ifstream file(path);
  double sum = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(field)) sum += std::stod(line.substr(field.size()));
  }
  return sum;
}

// Processes of `program`, and their parents. The parent is 1 for a template, and a template for a worker.
std::map<int, int> Processes(const std::string& program) {
  std::map<int, int> parents;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const int pid = std::atoi(entry.path().filename().c_str());
    std::error_code error;
    if (pid > 0 && std::filesystem::read_symlink(entry.path() / "exe", error) == program) {
      parents[pid] = static_cast<int>(Sum(entry.path() / "status", "PPid:"));
    }
  }
  return parents;
}

void PrintMemory(const std::string& program) {
  const std::map<int, int> processes = Processes(program);
  for (const auto& [pid, parent] : processes) {
    const std::string file = fmt::format("/proc/{}/smaps_rollup", pid);
    fmt::print("{} {}: {:.1f} MB of its own, {:.1f} with its share of others'\n",
               processes.contains(parent) ? "worker" : "template", pid,
               (Sum(file, "Private_Clean:") + Sum(file, "Private_Dirty:")) / 1024, Sum(file, "Pss:") / 1024);
  }
}

double Since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

class Guest {
 public:
  Guest(const wasinn::Host& host, const std::vector<std::string>& parts, uint32_t encoding)
      : calls_(host, kModel + SizeOf(parts)), parts_(parts.size()), encoding_(encoding) {
    std::vector<uint32_t> places;
    uint32_t place = kModel;
    for (const std::string& part : parts) {
      std::ranges::copy(part, calls_.at(place));
      places.insert(places.end(), {place, static_cast<uint32_t>(part.size())});
      place += static_cast<uint32_t>(part.size());
    }
    calls_.SetWords(kParts, places);
  }

  // In ms.
  double Load() {
    const auto start = Clock::now();
    calls_.Call("load", {kParts, parts_, encoding_, 0, kResult});
    calls_.Call("init_execution_context", {calls_.Word(kResult), kResult});
    return Since(start);
  }

 private:
  static constexpr uint32_t kResult = 16, kParts = 32, kModel = 64;  // addresses

  static size_t SizeOf(const std::vector<std::string>& parts) {
    size_t size = 0;
    for (const std::string& part : parts) size += part.size();
    return size;
  }

  DirectGuest calls_;
  const size_t parts_;
  const uint32_t encoding_;
};

// In ms, from the call that finds its worker killed until another one has the model. The youngest worker is the spare
// one.
double Back(Guest& guest, const std::string& worker) {
  const std::map<int, int> processes = Processes(worker);
  for (const auto& [pid, parent] : processes) {
    if (processes.contains(parent) && pid != processes.rbegin()->first) ::kill(pid, SIGKILL);
  }
  const auto start = Clock::now();
  try {
    guest.Load();
  } catch (const std::runtime_error&) {  // fails, because its worker is gone
  }
  guest.Load();
  return Since(start);
}

const std::map<std::string, uint32_t> kEncodings = {{"openvino", 0}, {"onnx", 1},   {"tensorflow", 2},
                                                    {"pytorch", 3},  {"tflite", 4}, {"ggml", 5}};

int Run(int argc, char** argv) {
  CLI::App app("Time the first load of each of some guests, and the next one after its worker was killed");
  std::vector<std::string> files, parts;
  std::string load = "isolated", threads = "1", worker;
  uint32_t encoding = 1;
  int guests = 8, pause = 1000;
  app.add_option("MODEL", files, "The files of a model, in the order of its encoding")->required();
  app.add_option("--encoding", encoding, "Its encoding; default onnx")->transform(CLI::CheckedTransformer(kEncodings));
  app.add_option("--load", load, "As policy.load; default isolated");
  app.add_option("--threads", threads, "As in the settings; default 1");
  app.add_option("--guests", guests, "Guests one after the other; default 8");
  app.add_option("--pause", pause, "Milliseconds between two guests; default 1000");
  app.add_option("--worker", worker, "The path of wasinn-worker; prints the memory of its processes, too (as root)");
  CLI11_PARSE(app, argc, argv);

  wasinn::Config config;
  Must(config.Set("policy.load", load));
  Must(config.Set("threads", threads));
  if (!worker.empty()) {
    worker = std::filesystem::canonical(worker);
    Must(config.Set("worker", worker));
  }
  wasinn::Result<wasinn::Host> host = wasinn::Host::Create(config);
  Must(host.status());
  for (const std::string& file : files) parts.push_back(Read(file));
  std::vector<std::unique_ptr<Guest>> all;
  for (int i = 0; i < guests; ++i) {
    all.push_back(std::make_unique<Guest>(*host, parts, encoding));
    fmt::print("{}{:.1f} ms", i == 0 ? "first loads: " : ", ", all.back()->Load());
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::milliseconds(pause));
  }
  fmt::print("; the last guest's second: {:.1f} ms\n", all.back()->Load());
  if (worker.empty()) return 0;
  PrintMemory(worker);
  fmt::print("back after its worker was killed: {:.1f} ms\n", Back(*all.back(), worker));
  return 0;
}

}  // namespace

int main(int argc, char** argv) try { return Run(argc, argv); } catch (const std::exception& error) {
  std::fprintf(stderr, "first-loads: %s\n", error.what());
  return 1;
}
