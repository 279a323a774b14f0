#include "torch/config.h"

#include "common/config.h"

namespace wasinn::torch {

using backend::Config;

namespace {

constexpr wasinn_key kKeys[] = {
    {"library", WASINN_KEY_BACKEND, "absolute path of libtorch.so, or of its folder; the first one opened stays"},
    {"threads", WASINN_KEY_BACKEND,
     "threads of one compute, the caller's included: 1 to the host's budget, which is the default; one setting for the "
     "whole OS process"},
    {"device", WASINN_KEY_BACKEND | WASINN_KEY_MODEL, "in place of the target: cpu, cuda, cuda:1"},
    backend::kOpLibrariesKey,
    {"list_inputs", WASINN_KEY_MODEL,
     "the most tensors of an input that is a list of tensors (List[Tensor]): 1 to 1024; default 16"},
    {"guest_models", WASINN_KEY_BACKEND, "false: no model that comes as bytes from a guest is loaded; default true"},
};

}  // namespace

std::span<const wasinn_key> Keys() { return kKeys; }

BackendConfig BackendConfig::Parse(const char* text, uint32_t budget) {
  const Config config(text, "[backends.torch]");
  BackendConfig parsed;
  parsed.library = config.String("library").value_or("");
  parsed.threads = backend::BackendThreads(config, budget);
  parsed.device = config.String("device");
  parsed.guest_models = config.Bool("guest_models").value_or(true);
  return parsed;
}

ModelConfig ModelConfig::Parse(const char* host_text, const BackendConfig& defaults) {
  const Config host(host_text, "configuration of the model");
  ModelConfig parsed;
  parsed.device = host.String("device");
  if (!parsed.device) parsed.device = defaults.device;
  parsed.op_libraries = host.AbsolutePaths("op_libraries");
  parsed.list_inputs = static_cast<size_t>(host.Integer("list_inputs", 1, 1024).value_or(parsed.list_inputs));
  return parsed;
}

}  // namespace wasinn::torch
