#include "openvino/config.h"

#include <algorithm>
#include <thread>

#include "common/throw.h"

namespace wasinn::openvino {

using backend::Config;
using backend::Throw;

namespace {

constexpr wasinn_key kOvKeys[] = {
    {"library", WASINN_KEY_BACKEND, "absolute path of libopenvino_c.so, or of its folder"},
    {"threads", WASINN_KEY_BACKEND | WASINN_KEY_MODEL | WASINN_KEY_GUEST,
     "threads of one compute, the caller's included: 1 to the host's budget, which is the default; of a guest's number "
     "no more than the model's counts"},
    {"streams", WASINN_KEY_BACKEND | WASINN_KEY_MODEL,
     "computes at once of one model of fixed shapes, each with memory of its own; others wait. Default: 1, or with one "
     "thread for each compute the number of processors, but no more than 4. A model of open shapes has 1"},
    {"performance", WASINN_KEY_BACKEND | WASINN_KEY_MODEL | WASINN_KEY_GUEST,
     "OpenVINO's performance hint: latency or throughput; default latency"},
    {"precision", WASINN_KEY_BACKEND | WASINN_KEY_MODEL | WASINN_KEY_GUEST,
     "the precision that the device computes in: f32, f16, bf16, or accurate, which is the model's own; default: the "
     "device's choice, which on some processors is bf16 for models in f32"},
    {"device", WASINN_KEY_BACKEND | WASINN_KEY_MODEL,
     "OpenVINO's device in place of the target: \"GPU.1\", \"AUTO:GPU,CPU\""},
    {"cache_dir", WASINN_KEY_BACKEND | WASINN_KEY_MODEL,
     "absolute path of a folder, this user's own, for compiled models: for models that the host has named only"},
    {"properties", WASINN_KEY_BACKEND | WASINN_KEY_MODEL,
     "OpenVINO's own properties for compiling: {\"CPU_DENORMALS_OPTIMIZATION\": \"YES\"}"},
};

constexpr int kMaxStreamsByDefault = 4;
constexpr int kMaxStreams = 1024;

std::optional<std::string> ParseWord(const Config& config, const char* key, std::span<const char* const> words,
                                     std::span<const char* const> values) {
  const auto word = config.Word(key, words);
  return word ? std::optional<std::string>(values[*word]) : std::nullopt;
}

// Keys that a guest may set, too.
CompileConfig ParseHints(const Config& config) {
  constexpr const char* kModes[] = {"latency", "throughput"};
  constexpr const char* kOvModes[] = {"LATENCY", "THROUGHPUT"};
  constexpr const char* kPrecisions[] = {"f32", "f16", "bf16", "accurate"};
  constexpr const char* kOvPrecisions[] = {"f32", "f16", "bf16", "dynamic"};
  CompileConfig parsed;
  parsed.performance = ParseWord(config, "performance", kModes, kOvModes);
  parsed.precision = ParseWord(config, "precision", kPrecisions, kOvPrecisions);
  return parsed;
}

CompileConfig ParseCompile(const Config& config) {
  CompileConfig parsed = ParseHints(config);
  if (const auto streams = config.Integer("streams", 1, kMaxStreams)) parsed.streams = static_cast<int>(*streams);
  parsed.device = config.String("device");
  parsed.cache_dir = config.AbsolutePath("cache_dir");
  if (auto properties = config.Strings("properties")) parsed.properties = *std::move(properties);
  return parsed;
}

}  // namespace

std::span<const wasinn_key> Keys() { return kOvKeys; }

BackendConfig BackendConfig::Parse(const char* text, uint32_t budget) {
  const Config config(text, "[backends.openvino]");
  BackendConfig parsed;
  parsed.library = config.String("library").value_or("");
  parsed.budget = backend::ThreadBudget(budget);
  parsed.threads = backend::BackendThreads(config, budget);
  parsed.compile = ParseCompile(config);
  return parsed;
}

ModelConfig ModelConfig::Parse(const char* host_text, const char* guest_text, const BackendConfig& defaults) {
  const Config host_config(host_text, "configuration of the model");
  const Config guest_config(guest_text, "configuration from the guest");
  const CompileConfig host = ParseCompile(host_config);
  // Only these keys and the threads of a guest's text are read.
  const CompileConfig guest = ParseHints(guest_config);
  const CompileConfig& backend = defaults.compile;
  const auto first = [](const auto& model, const auto& second, const auto& third) {
    return model ? model : second ? second : third;
  };
  ModelConfig parsed;
  parsed.threads = backend::ModelThreads(host_config, guest_config, defaults.budget, defaults.threads);
  parsed.performance = first(host.performance, guest.performance, backend.performance).value_or("LATENCY");
  parsed.precision = first(host.precision, guest.precision, backend.precision);
  parsed.device = host.device ? host.device : backend.device;
  parsed.cache_dir = host.cache_dir ? host.cache_dir : backend.cache_dir;
  // Later entries override earlier ones.
  parsed.properties = backend.properties;
  parsed.properties.insert(parsed.properties.end(), host.properties.begin(), host.properties.end());
  parsed.streams = host.streams ? host.streams : backend.streams;
  return parsed;
}

int ModelConfig::Streams(bool has_open_shapes, int budget) const {
  if (has_open_shapes) return 1;
  const int processors = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const int chosen = streams.value_or(threads == 1 ? std::min(processors, kMaxStreamsByDefault) : 1);
  const int64_t helpers = int64_t{chosen} * (threads - 1);
  if (helpers <= budget - 1) return chosen;
  Throw(WASINN_ERROR_INVALID_ARGUMENT,
        "streams: {} of {} threads each need {} threads besides their callers': expected no more than {}", chosen,
        threads, helpers, budget - 1);
}

}  // namespace wasinn::openvino
