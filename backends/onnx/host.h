// The objects of one wasinn host: ONNX Runtime, an environment, configuration.
#pragma once

#include <wasinn/backend.h>

#include <atomic>

#include "common/bases.h"
#include "common/process_turn.h"
#include "common/throw.h"
#include "onnx/call_scope.h"
#include "onnx/config.h"
#include "onnx/devices.h"
#include "onnx/environment.h"
#include "onnx/locales.h"
#include "onnx/ort_library.h"
#include "onnx/session_options.h"

namespace wasinn::onnx {

// ONNX Runtime's environment, its allocator and its table of imports are there once in an OS process. Two embedders in
// one program may each bring a copy of this backend, and each copy would undo what the other has set up, limits of
// guests included. The first copy that is opened stays the only one (docs/decisions/0031).
class OnlyCopy {
 public:
  OnlyCopy() {
    static backend::ProcessTurn turn;
    static const bool is_first = turn.TryTake("/proc/self/fdinfo");
    if (is_first) return;
    backend::Throw(
        WASINN_ERROR_UNSUPPORTED_OPERATION,
        "another copy of wasinn's backend is open in this OS process, which has one ONNX Runtime for both; open "
        "the same file from both places");
  }
};

class Host : OnlyCopy, public backend::HostOf<BackendConfig, OrtLibrary> {
 public:
  Host(const wasinn_host_services& services, const char* config)
      : HostOf(services, config),
        environment_(library_, log(), config_.threads, config_.spinning),
        cache_(config_.cache_bytes) {
    Describe("ONNX Runtime", DevicesText(AvailableProviders(library_)));
  }

  const OrtApi& api() const { return library_.api(); }
  const Environment& environment() const { return environment_; }
  BlockCache* cache() const { return &cache_; }

  // A number for an owner of charged memory: never 0, and different from the last 2^32 of this host.
  uint64_t NewChargeId() const { return next_charge_id_.fetch_add(uint64_t{1} << 32); }

 private:
  const Environment environment_;
  const Locales locales_;
  mutable BlockCache cache_;
  mutable std::atomic<uint64_t> next_charge_id_ = uint64_t{1} << 32;
};

}  // namespace wasinn::onnx
