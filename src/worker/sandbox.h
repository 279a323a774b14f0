// The sandbox that a worker enters before it reads the first byte of a guest. What a guest's model then makes of the framework
// opens no file, socket or program, signals nobody else, and takes no more memory than it may.
//
//   auto sandbox = Sandbox::RaiseBeforeThreads(SandboxOptionsOf("onnx"));  // one thread; files of `readable` can still be opened
//   …                                                             // opens the framework, computes a model as warm-up: its threads exist
//   sandbox->Seal(max_bytes);                                     // all threads; now guests' bytes may come
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "worker/sandbox_options.h"
#include "worker/self_status.h"

namespace wasinn::worker {

// Errors are words for whoever runs the host: what was tried, and what the system answered. After one the sandbox holds in
// part, so the OS process must end before it reads anything of a guest.
class Sandbox {
 public:
  // What holds for threads that come later, too, and cannot be taken back: no new privileges, no capabilities, no
  // reading of this process by others of its user, no file but `options.readable` and `options.devices`, no TCP, no signal or
  // abstract socket to the outside, few descriptors, no core file, nice 10, first to be killed when memory is short; its
  // threads are counted apart (threads_limit.h). Each where the system has it; SandboxSupport says what must be there.
  // An error if there is a second thread.
  static std::expected<Sandbox, std::string> RaiseBeforeThreads(SandboxOptions options);

  // Once. All threads from here on make system calls of the list alone, have `max_bytes` of memory beyond what there is
  // now (0: no limit), and are no more than may have stacks there.
  std::expected<void, std::string> Seal(uint64_t max_bytes);

 private:
  Sandbox(SandboxOptions options, SelfStatus status, bool counted_apart)
      : options_(std::move(options)), status_(std::move(status)), counted_apart_(counted_apart) {}

  SandboxOptions options_;
  SelfStatus status_;
  bool counted_apart_;  // its threads, from those of other processes
};

}  // namespace wasinn::worker
