// The sandbox that a worker enters before it reads the first byte of a guest. Whatever a guest's model does to the
// framework, it can open no file, socket or program, signal no other process, and use no more memory than its limit.
//
//   auto sandbox = Sandbox::RaiseBeforeThreads(SandboxOptionsOf("onnx"));  // one thread; `readable` can still be opened
//   …                          // opens the framework, computes a model as warm-up: its threads exist
//   sandbox->Seal(max_bytes);  // all threads; now guests' bytes may come
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "worker/sandbox_options.h"
#include "worker/self_status.h"

namespace wasinn::worker {

// Errors are for the host's operator: the failed attempt, and the system's answer. After one the sandbox is incomplete,
// so the OS process must end before it reads anything of a guest.
class Sandbox {
 public:
  // Sets the limits that also hold for later threads, for good: no new privileges, no capabilities, no reading of this
  // process by others of its user, no files except `options.readable` and `options.devices`, no TCP, no signal or
  // abstract socket to the outside, few descriptors, no core file, nice 10, first to be killed when memory is short.
  // Its threads are counted separately (threads_limit.h). Each if the system supports it; SandboxSupport lists what is
  // required. An error if there is a second thread.
  static std::expected<Sandbox, std::string> RaiseBeforeThreads(SandboxOptions options);

  // Call it once. From here on all threads may only make the system calls on the list, have `max_bytes` of memory
  // beyond the current amount (0: no limit), and there are only as many as fit with their stacks.
  std::expected<void, std::string> Seal(uint64_t max_bytes);

 private:
  Sandbox(SandboxOptions options, SelfStatus status, bool counted_apart)
      : options_(std::move(options)), status_(std::move(status)), counted_apart_(counted_apart) {}

  SandboxOptions options_;
  SelfStatus status_;
  bool counted_apart_;  // its threads, from those of other processes
};

}  // namespace wasinn::worker
