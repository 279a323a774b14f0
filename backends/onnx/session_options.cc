#include "onnx/session_options.h"

#include <fmt/ranges.h>
#include <onnxruntime_session_options_config_keys.h>

#include <algorithm>

#include "common/throw.h"
#include "onnx/devices.h"

namespace wasinn::onnx {

using backend::Config;
using backend::Error;
using backend::KeysAndValues;
using backend::Log;
using backend::Throw;

namespace {

void AppendCuda(const OrtLibrary& library, const Config::Entries& entries, OrtSessionOptions* options) {
  const OrtApi& api = library.api();
  const auto cuda = library.Make("CUDA", api.ReleaseCUDAProviderOptions, api.CreateCUDAProviderOptions);
  const KeysAndValues with(entries);
  library.Check(api.UpdateCUDAProviderOptions(cuda.get(), with.keys.data(), with.values.data(), with.keys.size()),
                "CUDA");
  library.Check(api.SessionOptionsAppendExecutionProvider_CUDA_V2(options, cuda.get()), "CUDA");
}

void AppendTensorRt(const OrtLibrary& library, const Config::Entries& entries, OrtSessionOptions* options) {
  const OrtApi& api = library.api();
  const auto rt = library.Make("TensorRT", api.ReleaseTensorRTProviderOptions, api.CreateTensorRTProviderOptions);
  const KeysAndValues with(entries);
  library.Check(api.UpdateTensorRTProviderOptions(rt.get(), with.keys.data(), with.values.data(), with.keys.size()),
                "TensorRT");
  library.Check(api.SessionOptionsAppendExecutionProvider_TensorRT_V2(options, rt.get()), "TensorRT");
}

void Append(const OrtLibrary& library, const Config::Named& provider, OrtSessionOptions* options) {
  if (provider.name == kCpu) return;  // always there, as the last
  try {
    if (provider.name == kCuda) return AppendCuda(library, provider.options, options);
    if (provider.name == kTensorRt) return AppendTensorRt(library, provider.options, options);
    const KeysAndValues with(provider.options);
    const char* const name = provider.name == kWebGpu ? "WebGPU" : provider.name.c_str();
    library.Check(library.api().SessionOptionsAppendExecutionProvider(options, name, with.keys.data(),
                                                                      with.values.data(), with.keys.size()),
                  name);
  } catch (const Error& error) {
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
          "the execution provider '{}' cannot be used: {} (ONNX Runtime {} has: {})", provider.name, error.what(),
          library.version(), fmt::join(AvailableProviders(library), ", "));
  }
}

void SetThreads(const OrtLibrary& library, bool use_pool, OrtSessionOptions* options) {
  const OrtApi& api = library.api();
  library.Check(api.SetSessionExecutionMode(options, ORT_SEQUENTIAL), "threads");
  if (use_pool) {
    library.Check(api.DisablePerSessionThreads(options), "threads");
    return;
  }
  // One thread is the caller's: then there is no pool.
  library.Check(api.SetIntraOpNumThreads(options, 1), "threads");
  library.Check(api.SetInterOpNumThreads(options, 1), "threads");
}

void SetOrigin(const OrtLibrary& library, const Origin& origin, OrtSessionOptions* options) {
  const OrtApi& api = library.api();
  if (!origin.folder.empty()) {
    library.Check(api.AddSessionConfigEntry(options, kOrtSessionOptionsModelExternalInitializersFileFolderPath,
                                            origin.folder.c_str()),
                  "folder");
  }
  if (!origin.folds) {
    library.Check(api.AddSessionConfigEntry(options, kOrtSessionOptionsDisableSpecifiedOptimizers,
                                            "ConstantFolding;ConstantFoldingDQ"),
                  "constant folding");
  }
  if (origin.is_optimized) {
    library.Check(api.SetSessionGraphOptimizationLevel(options, ORT_DISABLE_ALL), "optimization");
  }
  if (!origin.keep_at.empty()) {
    library.Check(api.SetOptimizedModelFilePath(options, origin.keep_at.c_str()), "optimized model");
    library.Check(api.AddSessionConfigEntry(options, kOrtSessionOptionsConfigSaveModelFormat, "ONNX"), "its format");
  }
}

}  // namespace

std::vector<std::string> AvailableProviders(const OrtLibrary& library) {
  char** names = nullptr;
  int n = 0;
  library.Check(library.api().GetAvailableProviders(&names, &n), "providers");
  std::vector<std::string> providers(names, names + n);
  library.Check(library.api().ReleaseAvailableProviders(names, n), "providers");
  return providers;
}

std::vector<Providers> ProvidersOf(uint32_t target, const OrtLibrary& library) {
  const Providers cpu;
  const auto available = AvailableProviders(library);
  const char* const name = GpuProvider(available);
  const Providers gpu = name == nullptr ? Providers() : Providers{{name, {}}};
  switch (target) {
    case WASINN_TARGET_CPU:
      return {cpu};
    case WASINN_TARGET_AUTO:
      return name != nullptr ? std::vector<Providers>{gpu, cpu} : std::vector<Providers>{cpu};
    case WASINN_TARGET_GPU:
      if (name != nullptr) return {gpu};
      Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
            "target gpu: neither the CUDA nor the WebGPU execution provider is in ONNX Runtime {} at {}, which has: {}",
            library.version(), library.path(), fmt::join(available, ", "));
    default:
      Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "target {}: ONNX Runtime serves cpu, gpu and auto",
            target == WASINN_TARGET_TPU ? "tpu" : std::to_string(static_cast<int>(target)));
  }
}

bool UsesDevice(const Providers& providers) {
  return std::ranges::any_of(providers, [](const Config::Named& provider) { return provider.name != kCpu; });
}

bool UsesWebGpu(const Providers& providers) {
  return std::ranges::any_of(providers, [](const Config::Named& provider) { return IsWebGpu(provider.name); });
}

OrtPtr<OrtSessionOptions> MakeSessionOptions(const OrtLibrary& library, const Environment& environment, const Log& log,
                                             const ModelConfig& config, const Providers& providers,
                                             const Origin& origin) {
  const OrtApi& api = library.api();
  auto options = library.Make("session options", api.ReleaseSessionOptions, api.CreateSessionOptions);
  OrtSessionOptions* const raw = options.get();
  environment.LogTo(log, raw);
  library.Check(api.SetSessionGraphOptimizationLevel(raw, config.session.optimization_or_default()), "optimization");
  SetThreads(library, config.use_pool && environment.has_pool(), raw);
  if (environment.limits_memory()) {
    library.Check(api.AddSessionConfigEntry(raw, kOrtSessionOptionsConfigUseEnvAllocators, "1"), "allocator");
  }
  for (const auto& [key, value] : config.session.entries) {
    library.Check(api.AddSessionConfigEntry(raw, key.c_str(), value.c_str()), key.c_str());
  }
  SetOrigin(library, origin, raw);
  for (const std::string& path : config.op_libraries) {
    library.Check(api.RegisterCustomOpsLibrary_V2(raw, path.c_str()), "op_libraries");
  }
  for (const Config::Named& provider : providers) Append(library, provider, raw);
  return options;
}

}  // namespace wasinn::onnx
