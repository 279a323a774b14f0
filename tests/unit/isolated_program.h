// Guests of the echo backend whose models run in workers.
#pragma once

#include <sys/types.h>

#include "support/echo.h"
#include "support/test.h"
#include "support/this_build.h"

namespace wasinn::testing {

using Program = EchoProgram;

class Isolation : public ::testing::Test {
 protected:
  // The build's worker, which the library looks for next to itself: these tests contain the library.
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
  return NewGuest(host, [&](wasinn_policy& policy) { policy.tenant = tenant; });
}

}  // namespace wasinn::testing
