// ONNX Runtime's environment: one for the whole OS process, including other users of ONNX Runtime.
#pragma once

#include <memory>

#include "common/log.h"
#include "onnx/ort_library.h"
#include "onnx/quota_allocator.h"

namespace wasinn::onnx {

struct EnvDeleter {
  const OrtApi* api;
  void operator()(OrtEnv* env) const;
};
using EnvPtr = std::unique_ptr<OrtEnv, EnvDeleter>;

class Environment {
 public:
  // threads > 1: a pool of that many, including the caller's, which all sessions share.
  Environment(const OrtLibrary& library, const backend::Log& log, int threads, bool spinning);

  OrtEnv* get() const { return env_.get(); }
  // The environment's first creator decides these two; it may be the program, or a host with another budget.
  bool has_pool() const { return has_pool_; }
  bool limits_memory() const { return allocator_.held(); }
  const OrtMemoryInfo* cpu_memory() const { return cpu_memory_.get(); }

  // From here on ONNX Runtime's environment lives as long as the OS process.
  void NeverEnd(const backend::Log& log) const;

  // Options that send the messages of a session to a host's log, which must outlive the session.
  void LogTo(const backend::Log& log, OrtSessionOptions* options) const;

 private:
  // Makes a session of a minimal model, without a pool of its own: false if the environment refuses that.
  bool TryPool() const;

  const OrtLibrary& library_;
  const EnvPtr env_;
  const OrtPtr<OrtMemoryInfo> cpu_memory_;
  const AllocatorLease allocator_;
  bool has_pool_ = false;
};

}  // namespace wasinn::onnx
