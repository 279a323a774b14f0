#include "llama/config.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/config.h"
#include "common/error.h"
#include "common/thread_settings.h"

namespace wasinn::llama {

using backend::Config;
using backend::Error;

namespace {

constexpr uint32_t kLoad = WASINN_KEY_MODEL | WASINN_KEY_GUEST;
constexpr uint32_t kAll = kLoad | WASINN_KEY_CONTEXT;
constexpr wasinn_key kKeys[] = {
    {"library", WASINN_KEY_BACKEND, "absolute path of libllama.so, or of its folder"},
    {"threads", WASINN_KEY_BACKEND | kAll,
     "most threads of one context, the caller's included; backend: 1 to the host's budget, which is the default; model "
     "and guest: fewer"},
    {"guest_grammars", WASINN_KEY_BACKEND,
     "false: guests bring no grammars and no JSON schemas, since one that is made to be slow holds its thread for a "
     "while; "
     "default true"},
    {"mmap", WASINN_KEY_MODEL, "false: the model is read into memory in place of mapping its file; default true"},
    {"parallel", WASINN_KEY_MODEL,
     "contexts that are decoded together in one batch; more wait; default 0: each context by itself"},
    {"loras", WASINN_KEY_MODEL, "adapters that guests may name: {name = \"/path/adapter.gguf\"}"},
    {"n-gpu-layers", kLoad, "layers on the GPU, where the target is gpu; default all"},
    {"ctx-size", kAll,
     "tokens of a context; model: also the most that a guest may ask for; default what the model was trained with, at "
     "most 4096"},
    {"batch-size", kAll, "tokens that are evaluated in one call; default 2048"},
    {"ubatch-size", kAll, "tokens that are evaluated at once; default 512"},
    {"n-predict", kAll, "tokens to generate; -1: until the model ends or the context is full, which is the default"},
    {"temp", kAll, "temperature; 0: always the most probable token; default 0.8"},
    {"top-k", kAll, "sample from the k most probable tokens; 0: from all; default 40"},
    {"top-p", kAll, "sample from the most probable tokens that make up p; default 0.95"},
    {"min-p", kAll, "sample from tokens of at least p of the most probable one's probability; default 0.05"},
    {"typical-p", kAll, "locally typical sampling; 1: off, which is the default"},
    {"repeat-penalty", kAll, "of the last 64 tokens; 1: off, which is the default"},
    {"presence-penalty", kAll, "of the last 64 tokens; 0: off, which is the default"},
    {"frequency-penalty", kAll, "of the last 64 tokens; 0: off, which is the default"},
    {"seed", kAll, "of the random numbers; -1: another each time, which is the default"},
    {"grammar", kAll, "grammar (GBNF) that the completion follows"},
    {"json-schema", kAll, "JSON schema that the completion follows: text or an object"},
    {"reverse-prompt", kAll, "text, or texts, where generation stops; it is not part of the completion"},
    {"embedding", kAll, "true: the output is the prompt's embedding"},
    {"lora", kAll, "name of one of the host's adapters"},
    {"lora-scale", kAll, "how much of it; default 1"},
    {"chat", kAll,
     "true: the prompt is a JSON array of messages, {\"role\", \"content\"}; the model's chat template joins them"},
    {"chat-template", kAll, "name of a chat template of llama.cpp's, in place of the model's"},
    {"cache-prompt", kAll, "false: a prompt that begins as the last one is evaluated whole; default true"},
    {"enable-log", kAll, "true: what llama.cpp tells goes to the host's log"},
    {WASINN_KEY_ANY, WASINN_KEY_GUEST | WASINN_KEY_CONTEXT,
     "other keys of guests are named in a warning; mmproj, image and tts are errors"},
    {"stream-stdout", kAll, "accepted and ignored: guests write to stdout, the library does not"},
};

// A context of the length that today's models are trained with is larger than most machines' memory.
constexpr uint32_t kDefaultContext = 4096;
constexpr uint32_t kMostContext = 1 << 24, kDefaultBatch = 2048, kDefaultMicroBatch = 512, kMostParallel = 64;

void CheckPaths(const std::map<std::string, std::string>& loras) {
  for (const auto& [name, path] : loras) {
    if (path.starts_with('/')) continue;
    throw Error(WASINN_INVALID_ARGUMENT, fmt::format("loras: {}: expected an absolute path, found '{}'", name, path));
  }
}

}  // namespace

std::span<const wasinn_key> Keys() { return kKeys; }

BackendConfig BackendConfig::Parse(const char* text, uint32_t budget) {
  const Config config(text, "[backends.llama]");
  BackendConfig parsed;
  parsed.library = config.String("library").value_or("");
  parsed.threads = backend::BackendThreads(config, budget);
  parsed.guest_grammars = config.Bool("guest_grammars").value_or(true);
  return parsed;
}

ModelConfig ModelConfig::Parse(const char* host_text, const char* guest_text, const BackendConfig& backend,
                               const ModelScan& scan) {
  const Config host(host_text, "configuration of the model");
  const Config guest(guest_text, "configuration from the guest");
  ModelConfig parsed;
  // llama.cpp aborts on a position that has no embedding.
  const uint32_t most =
      scan.positions > 0 ? static_cast<uint32_t>(std::min<uint64_t>(scan.positions, kMostContext)) : kMostContext;
  const auto trained = static_cast<uint32_t>(std::clamp<uint64_t>(scan.trained_context, 1, most));
  parsed.parallel = static_cast<uint32_t>(host.Integer("parallel", 0, kMostParallel).value_or(0));
  parsed.map = host.Bool("mmap").value_or(true);
  if (const auto loras = host.Strings("loras")) parsed.loras.insert(loras->begin(), loras->end());
  CheckPaths(parsed.loras);
  parsed.gpu_layers = static_cast<int32_t>(host.Integer("n-gpu-layers", -1, INT32_MAX).value_or(-1));
  if (const auto n = guest.Integer("n-gpu-layers", -1, INT32_MAX); n && *n >= 0) {
    parsed.gpu_layers =
        parsed.gpu_layers < 0 ? static_cast<int32_t>(*n) : std::min(parsed.gpu_layers, static_cast<int32_t>(*n));
  }
  Settings& settings = parsed.defaults;
  settings.context = std::min(trained, kDefaultContext);
  settings.batch = kDefaultBatch;
  settings.micro_batch = kDefaultMicroBatch;
  settings.threads = backend.threads;
  // The host may go beyond all of these but its threads; what it says is the most for guests.
  settings.Apply(host, {.context = most, .batch = 1 << 16, .micro_batch = 1 << 16, .threads = backend.threads},
                 parsed.loras);
  const bool host_says = host.Integer("ctx-size", 0, kMostContext).value_or(0) > 0;
  parsed.limits = {.context = host_says ? settings.context : trained,
                   .batch = settings.batch,
                   .micro_batch = settings.micro_batch,
                   .threads = settings.threads,
                   .grammars = backend.guest_grammars};
  // Of one that is shared, the host says the size.
  if (parsed.parallel > 0) parsed.limits.context = settings.context;
  settings.Apply(guest, parsed.limits, parsed.loras);
  return parsed;
}

}  // namespace wasinn::llama
