#include "onnx/config.h"

#include <unistd.h>

#include <algorithm>

#include "common/throw.h"

namespace wasinn::onnx {

using backend::Config;

namespace {

constexpr wasinn_key kKeys[] = {
    {"library", WASINN_KEY_BACKEND, "absolute path of libonnxruntime.so, or of its folder"},
    {"threads", WASINN_KEY_BACKEND | WASINN_KEY_MODEL | WASINN_KEY_GUEST,
     "threads of one compute, the caller's included; backend: 1 to the host's budget, which is the default, and the "
     "size of the pool that all models share; model and guest: 1 leaves the pool out"},
    {"spinning", WASINN_KEY_BACKEND,
     "true: the pool's threads wait for work in a busy loop: faster on idle cores, slow on busy ones; default false"},
    {"cache_bytes", WASINN_KEY_BACKEND,
     "bytes of large buffers that are kept between computes, for all models together; default: an eighth of the "
     "memory, but no more than 1 GiB"},
    {"optimization", WASINN_KEY_BACKEND | WASINN_KEY_MODEL | WASINN_KEY_GUEST,
     "graph optimization: off, basic, extended or all; default all"},
    {"providers", WASINN_KEY_BACKEND | WASINN_KEY_MODEL,
     "execution providers in order of preference, in place of the target: names, or objects with a name and options: "
     "[\"cpu\"], [{\"name\": \"cuda\", \"device_id\": 1}]"},
    {"session", WASINN_KEY_BACKEND | WASINN_KEY_MODEL,
     "ONNX Runtime's own session configuration: {\"session.set_denormal_as_zero\": \"1\"}"},
    {"cache_dir", WASINN_KEY_BACKEND | WASINN_KEY_MODEL,
     "absolute path of a folder, this user's own, for optimized models: for models on the CPU that the host has named "
     "only"},
    backend::kOpLibrariesKey,
};

// Enough for large models, but little on a small machine.
int64_t DefaultCacheBytes() {
  constexpr int64_t kMax = 1 << 30;
  const int64_t memory = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  return std::clamp<int64_t>(memory / 8, 0, kMax);
}

std::optional<GraphOptimizationLevel> ParseOptimization(const Config& config) {
  constexpr const char* kWords[] = {"off", "basic", "extended", "all"};
  constexpr GraphOptimizationLevel kLevels[] = {ORT_DISABLE_ALL, ORT_ENABLE_BASIC, ORT_ENABLE_EXTENDED, ORT_ENABLE_ALL};
  const auto word = config.Word("optimization", kWords);
  return word ? std::optional(kLevels[*word]) : std::nullopt;
}

SessionConfig ParseSession(const Config& config) {
  SessionConfig session;
  session.optimization = ParseOptimization(config);
  session.providers = config.NamedList("providers");
  if (auto entries = config.Strings("session")) session.entries = *std::move(entries);
  session.cache_dir = config.AbsolutePath("cache_dir");
  return session;
}

}  // namespace

std::span<const wasinn_key> Keys() { return kKeys; }

BackendConfig BackendConfig::Parse(const char* text, uint32_t budget) {
  const Config config(text, "[backends.onnx]");
  BackendConfig parsed;
  parsed.library = config.String("library").value_or("");
  parsed.threads = backend::BackendThreads(config, budget);
  parsed.spinning = config.Bool("spinning").value_or(false);
  parsed.cache_bytes = static_cast<size_t>(config.Integer("cache_bytes", 0, INT64_MAX).value_or(DefaultCacheBytes()));
  parsed.session = ParseSession(config);
  return parsed;
}

ModelConfig ModelConfig::Parse(const char* host_text, const char* guest_text, const BackendConfig& defaults) {
  const Config host(host_text, "configuration of the model");
  const Config guest(guest_text, "configuration from the guest");
  ModelConfig parsed;
  parsed.session = ParseSession(host);
  parsed.op_libraries = host.AbsolutePaths("op_libraries");
  // Only these keys of a guest's text are read.
  const std::optional<GraphOptimizationLevel> of_guest = ParseOptimization(guest);
  if (!parsed.session.cache_dir) parsed.session.cache_dir = defaults.session.cache_dir;
  // A guest's model must not fill the host's disk.
  if (of_guest) parsed.session.cache_dir.reset();
  if (!parsed.session.optimization) parsed.session.optimization = of_guest;
  if (!parsed.session.optimization) parsed.session.optimization = defaults.session.optimization;
  if (!parsed.session.providers) parsed.session.providers = defaults.session.providers;
  // Later entries override earlier ones.
  parsed.session.entries.insert(parsed.session.entries.begin(), defaults.session.entries.begin(),
                                defaults.session.entries.end());
  const int64_t threads = host.Integer("threads", 1, defaults.threads).value_or(defaults.threads);
  if (threads != 1 && threads != defaults.threads) {
    backend::Throw(WASINN_ERROR_INVALID_ARGUMENT,
                   "configuration of the model: threads: expected 1 or {}, found {}: all models share one pool",
                   defaults.threads, threads);
  }
  parsed.use_pool = backend::ModelThreads(host, guest, defaults.threads, defaults.threads) > 1;
  return parsed;
}

}  // namespace wasinn::onnx
