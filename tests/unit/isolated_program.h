// Guests of the echo backend whose models run in workers.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/echo.h"
#include "support/this_build.h"

namespace wasinn::testing {

struct Program {
  explicit Program(wasinn_host* host, size_t memory = 1 << 20) : Program(NewGuest(host), memory) {}
  explicit Program(GuestPtr its_guest, size_t memory = 1 << 20)
      : guest(std::move(its_guest)), calls(guest.get(), memory) {}
  // Loads a model and makes a context of it; 0 after an error.
  uint32_t Open(std::string_view directives) {
    uint32_t graph = 0, context = 0;
    if (calls.LoadBytes(EchoModel(directives), kGgmlEncoding, graph) != kSuccess) return 0;
    EXPECT_EQ(calls.InitContext(graph, context), kSuccess);
    return context;
  }
  // The output of a compute on `values`; none after an error.
  std::vector<float> Compute(uint32_t context, const std::vector<float>& values) {
    EXPECT_EQ(calls.SetInput(context, 0, {static_cast<uint32_t>(values.size())}, kF32, values), kSuccess);
    // Some are longer than they should be.
    return calls.Call("compute", {context}) == kSuccess ? Output(context, values.size() + 1000) : std::vector<float>();
  }
  std::vector<float> Output(uint32_t context, size_t most) {
    const auto bytes = static_cast<uint32_t>(most * sizeof(float));
    const uint32_t place = calls.Reserve(bytes), written = calls.Reserve(sizeof(uint32_t));
    EXPECT_EQ(calls.Call("get_output", {context, 0, place, bytes, written}), kSuccess);
    std::vector<float> values(calls.Read<uint32_t>(written) / sizeof(float));
    std::memcpy(values.data(), calls.memory().data() + place, values.size() * sizeof(float));
    return values;
  }
  wasinn_guest_stats Stats() const { return StatsOf(guest); }
  GuestPtr guest;
  FakeGuest calls;
};

class Isolation : public ::testing::Test {
 protected:
  // Of the build: these tests have the library in themselves, beside which it is looked for.
  static std::string Settings(const std::string& more = "", const std::string& worker = WorkerFile()) {
    return "worker = '" + worker + "'\n[policy]\nload = 'isolated'\n" + more;
  }
  HostPtr Host(const std::string& more = "", const std::string& worker = WorkerFile()) {
    return EchoHost(log, Settings(more, worker));
  }

  Log log;
};

// The processes of which this one has descriptors.
inline std::vector<pid_t> KnownProcesses() {
  std::vector<pid_t> pids;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("Pid:")) pids.push_back(std::stoi(line.substr(4)));
    }
  }
  return pids;
}

// One whose policy is the host's, but for the tenant.
inline GuestPtr GuestOf(wasinn_host* host, const char* tenant) {
  wasinn_policy policy{.struct_size = sizeof(policy)};
  EXPECT_EQ(wasinn_host_policy(host, &policy), nullptr);
  policy.tenant = tenant;
  wasinn_guest_options options{.struct_size = sizeof(options)};
  options.policy = &policy;
  return NewGuest(host, &options);
}

}  // namespace wasinn::testing
