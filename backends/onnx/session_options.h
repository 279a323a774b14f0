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

// What a target means here: ways to try, best first. Throws where the target cannot be had at all.
std::vector<Providers> ProvidersOf(uint32_t target, const OrtLibrary& library);

// Whether values of such a session may lie elsewhere than in the CPU's memory.
bool UsesDevice(const Providers& providers);
bool UsesWebGpu(const Providers& providers);

struct Origin {
  std::string folder;         // where files beside the model may be opened; empty: nowhere
  bool folds = true;          // what is constant is computed once and for all
  bool is_optimized = false;  // nothing is left to optimize
  std::string keep_at;        // a file that the optimized model is written to; empty: none
};

OrtPtr<OrtSessionOptions> MakeSessionOptions(const OrtLibrary& library, const Environment& environment,
                                             const backend::Log& log, const ModelConfig& config,
                                             const Providers& providers, const Origin& origin);

}  // namespace wasinn::onnx
