// Options of a session: threads, execution providers, limits.
#pragma once

#include <string>
#include <vector>

#include "common/log.h"
#include "onnx/config.h"
#include "onnx/environment.h"
#include "onnx/ort_library.h"

namespace wasinn::onnx {

// The execution providers of this build of ONNX Runtime: "CPUExecutionProvider" …
std::vector<std::string> AvailableProviders(const OrtLibrary& library);

// One way to run a model: providers in order of preference; none: the CPU.
using Providers = std::vector<backend::Config::Named>;

// The providers for a target: ways to try, best first. Throws if the target is not available.
std::vector<Providers> ProvidersOf(uint32_t target, const OrtLibrary& library);

// Whether values of such a session may be outside of the CPU's memory.
bool UsesDevice(const Providers& providers);
bool UsesWebGpu(const Providers& providers);

struct Origin {
  std::string folder;         // in which files next to the model may be opened; empty: none
  bool folds = true;          // constant parts are computed once
  bool is_optimized = false;  // needs no more optimization
  std::string keep_at;        // a file for the optimized model; empty: none
};

OrtPtr<OrtSessionOptions> MakeSessionOptions(const OrtLibrary& library, const Environment& environment,
                                             const backend::Log& log, const ModelConfig& config,
                                             const Providers& providers, const Origin& origin);

}  // namespace wasinn::onnx
