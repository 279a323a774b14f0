// The strictness of a worker's sandbox: it is less strict if a framework would not work otherwise.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wasinn::worker {

struct SandboxOptions {
  // System calls in addition to those of every worker (system_calls.h), by name. "openat" means opening for reading,
  // and only with Landlock, because a filter of system calls does not see the file's name.
  std::vector<std::string> more_calls;
  // Memory may be made executable: for frameworks that compile.
  bool exec_memory = false;
  // Folders, with all below, and files that may be opened for reading: until the seal, and after it with "openat".
  std::vector<std::string> readable;
  // Addresses for its threads' stacks, most of them unused: beyond the limit of memory, which counts whole stacks.
  uint64_t stack_bytes = 0;
  uint64_t most_descriptors = 64;

  // The rest is for workers that may use devices (devices.h). Drivers map more than a limit allows, and share memory.
  bool has_devices = false;
  // Files of devices that may be opened for reading and writing, and used with ioctl. Folders among them may be listed;
  // files that are no character devices are skipped.
  std::vector<std::string> devices;
  // The limit of a file, which can only be one in memory.
  uint64_t file_bytes = 0;
  // Memory that drivers may allocate in this process in addition to the limit of memory.
  uint64_t driver_bytes = 0;

  // NAME and value: variables that must be set before the framework's library is opened.
  std::vector<std::pair<std::string, std::string>> environment;

  bool reads_when_sealed() const { return has_devices || std::ranges::find(more_calls, "openat") != more_calls.end(); }
};

// The needs of the framework of this backend, and on a machine without executable memory (SandboxSupport) its needs
// without that. `readable` has the files about processors and for random numbers: the code that opens the framework
// adds the folders of the framework and its libraries. An unknown name gets the strictest sandbox.
SandboxOptions SandboxOptionsOf(std::string_view backend, bool has_exec_memory = true);

}  // namespace wasinn::worker
