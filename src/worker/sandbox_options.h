// How strict the sandbox of a worker is: less so if a framework cannot work otherwise.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wasinn::worker {

struct SandboxOptions {
  // System calls beside those that every worker makes (system_calls.h), by name. "openat" is opening for reading, and only where there
  // is Landlock, for a filter of system calls does not see which file is meant.
  std::vector<std::string> more_calls;
  // Memory may be made executable: for frameworks that compile.
  bool exec_memory = false;
  // Folders, with all below, and files that may be opened for reading: until the seal, and behind it with "openat".
  std::vector<std::string> readable;
  // Of addresses for stacks of its threads, of which little is touched: beside the limit of memory, which counts all of them.
  uint64_t stack_bytes = 0;
  uint64_t most_descriptors = 64;

  // Below what a worker has that may use devices (devices.h). Drivers map more than a limit of addresses could hold, and share memory.
  bool has_devices = false;
  // Files of devices that may be opened for reading and writing, and asked with ioctl. Folders among them may be looked through, and files
  // that are no devices of characters are left out.
  std::vector<std::string> devices;
  // Of a file, which can only be one in memory.
  uint64_t file_bytes = 0;
  // That drivers may allocate in this process beside the limit of memory.
  uint64_t driver_bytes = 0;

  // NAME and value: what the framework must be told before its library is opened.
  std::vector<std::pair<std::string, std::string>> environment;

  bool reads_when_sealed() const { return has_devices || std::ranges::find(more_calls, "openat") != more_calls.end(); }
};

// What the framework behind the backend of this name needs, and on a machine without executable memory (SandboxSupport) what it can do
// without that. `readable` is what tells the processors and what random numbers begin with: who opens the framework adds where it and the
// libraries that it needs lie. A name that is not known gets the strictest sandbox.
SandboxOptions SandboxOptionsOf(std::string_view backend, bool has_exec_memory = true);

}  // namespace wasinn::worker
