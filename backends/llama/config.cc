#include "llama/config.h"

#include <algorithm>

#include "common/config.h"
#include "common/throw.h"

namespace wasinn::llama {

using backend::Config;
using backend::Throw;

namespace {

constexpr uint32_t kLoad = WASINN_KEY_MODEL | WASINN_KEY_GUEST;
constexpr uint32_t kAll = kLoad | WASINN_KEY_CONTEXT;
constexpr uint32_t kGuests = WASINN_KEY_GUEST | WASINN_KEY_CONTEXT;
constexpr wasinn_key kKeys[] = {
    {"library", WASINN_KEY_BACKEND, "absolute path of libllama.so, or of its folder"},
    {"threads", WASINN_KEY_BACKEND | kAll,
     "most threads of one context, including the caller's; backend: 1 to the host's budget, which is the default; "
     "model "
     "and guest: fewer"},
    {"guest_grammars", WASINN_KEY_BACKEND,
     "false: guests may send no grammars and JSON schemas, because a malicious one takes about 50 ms for each "
     "token; default true"},
    {"mmap", WASINN_KEY_MODEL, "false: reads the model into memory instead of mapping its file; default true"},
    {"parallel", WASINN_KEY_MODEL,
     "contexts that are decoded together in one batch; more wait; default 0: each context by itself"},
    {"loras", WASINN_KEY_MODEL, "adapters that guests may name: {name = \"/path/adapter.gguf\"}"},
    {"projector", WASINN_KEY_MODEL,
     "absolute path of a projector file (mmproj), with which the model reads guests' images or sounds"},
    {"image-min-tokens", WASINN_KEY_MODEL,
     "least tokens of an image, if they depend on its size; default as in the file"},
    {"image-max-tokens", WASINN_KEY_MODEL, "most tokens of an image, likewise"},
    {"n-gpu-layers", kLoad, "layers on the GPU, if the target is gpu; default all"},
    {"split-mode", WASINN_KEY_MODEL, "how several GPUs share the model: none, layer, row or tensor; default layer"},
    {"main-gpu", WASINN_KEY_MODEL, "the GPU for all of it with split-mode none; default 0"},
    {"tensor-split", WASINN_KEY_MODEL, "share of each GPU, as in \"3,1\"; default by their memory"},
    {"draft", WASINN_KEY_MODEL, "absolute path of a small model with the same tokens, which drafts for this one"},
    {"draft-max", WASINN_KEY_MODEL, "most tokens that it drafts at a time, 1 to 64; default 8"},
    {"draft-min", WASINN_KEY_MODEL, "shorter drafts are not checked; default 1"},
    {"draft-p-min", WASINN_KEY_MODEL, "it stops at a token with a lower probability; default 0.3"},
    {"cache-type-k", kAll,
     "type of keys in the cache: f32, f16, bf16, q8_0, q4_0, q4_1, iq4_nl, q5_0, q5_1; default f16"},
    {"cache-type-v", kAll, "type of values in the cache; default f16"},
    {"flash-attn", kAll, "attention without a matrix of all pairs of tokens: auto, on or off; default auto"},
    {"shared-prompt", WASINN_KEY_MODEL,
     "beginning of many guests' prompts, evaluated once; guests can find out its text by timing"},
    {"ctx-size", kAll,
     "tokens of a context; model: also the limit of guests; default what the model was trained with, at "
     "most 4096"},
    {"batch-size", kAll, "most tokens evaluated in one call; default 2048"},
    {"ubatch-size", kAll, "most tokens evaluated at once; default 512"},
    {"n-predict", kAll, "tokens to generate; -1: until the model ends or the context is full, which is the default"},
    {"temp", kAll, "temperature; 0: always the most probable token; default 0.8"},
    {"top-k", kAll, "sample from the k most probable tokens; 0: from all; default 40"},
    {"top-p", kAll, "sample from the most probable tokens that make up p; default 0.95"},
    {"min-p", kAll, "sample from tokens with at least p times the highest probability; default 0.05"},
    {"typical-p", kAll, "locally typical sampling; 1: off, which is the default"},
    {"repeat-penalty", kAll, "penalty for the last tokens; 1: off, which is the default"},
    {"presence-penalty", kAll, "penalty for the last tokens; 0: off, which is the default"},
    {"frequency-penalty", kAll, "penalty for the last tokens; 0: off, which is the default"},
    {"repeat-last-n", kAll,
     "number of last tokens for the three penalties; 0: none; -1: the whole context; default 64"},
    {"seed", kAll, "seed of the random numbers; -1: a new one each time, which is the default"},
    {"logit-bias", kAll, "numbers to add to the logits of tokens: {\"token or text\": number}; false: forbids it"},
    {"ignore-eos", kAll, "true: forbids tokens that end a text; default false"},
    {"n-probs", kAll, "0 to 20: the output \"probabilities\" has each token's, and those of this many others"},
    {"post-sampling-probs", kAll, "with n-probs: true: probabilities after the samplers; default false: the model's"},
    {"dry-multiplier", kAll, "DRY, against sequences that repeat themselves; 0: off, which is the default"},
    {"dry-base", kAll, "DRY's base; default 1.75"},
    {"dry-allowed-length", kAll, "longest sequence that may repeat itself; default 2"},
    {"dry-penalty-last-n", kAll, "number of last tokens for DRY; default 64"},
    {"dry-sequence-breaker", kAll, "texts that end a sequence; default \\n, :, \", *"},
    {"xtc-probability", kAll, "XTC, which excludes the most probable tokens: how often; 0: off, which is the default"},
    {"xtc-threshold", kAll, "XTC: least probability of an excluded token; default 0.1"},
    {"mirostat", kAll, "1 or 2: Mirostat of that version instead of other samplers; 0: off, which is the default"},
    {"mirostat-ent", kAll, "Mirostat's entropy; default 5"},
    {"mirostat-lr", kAll, "Mirostat's learning rate; default 0.1"},
    {"tokens", kAll, "true: the prompt is a list of tokens and texts; tokens are evaluated unchanged"},
    {"add-special", kAll, "false: without the model's special tokens around a text; default true"},
    {"decode", kAll,
     "true: generates nothing: the output \"logits\" has the logits after the prompt and the input \"tokens\""},
    {"top-logits", kAll, "with decode: number of highest logits; the output \"logit_tokens\" has their tokens; 0: all"},
    {"position", kAll, "with decode: the first token of the text with logits; default only the last one"},
    {"tokenize", kAll, "true: the output is the prompt's tokens"},
    {"report", kAll, "true: the output \"generation\" has the effective settings; default false"},
    {"with-pieces", kAll, "with tokenize: true: each token with its text; default false"},
    {"detokenize", kAll, "true: the prompt is a list of tokens, and the output is their text"},
    {"texts", kAll,
     "with embedding: the prompt is a JSON list of texts, and the output \"embeddings\" has one for each"},
    {"rerank", kAll,
     "true: the prompt is {\"query\", \"documents\"}, and the output \"embeddings\" has a score for each document"},
    {"embd-normalize", kAll,
     "normalization of embeddings: -1: none; 0: to 32760; 1: by the sum; 2: to length 1, the default"},
    {"grammar", kAll, "grammar (GBNF) that the completion follows"},
    {"json-schema", kAll, "JSON schema that the completion follows: text or an object"},
    {"reverse-prompt", kAll, "text or texts that end the generation, and are not part of the completion"},
    {"stop-tokens", kAll, "list of token numbers that end the generation, and are not part of the completion"},
    {"embedding", kAll, "true: the output is the prompt's embedding"},
    {"lora", kAll, "name of one of the host's adapters, or a list of names and of {\"name\", \"scale\"}"},
    {"lora-scale", kAll, "scale of adapters without their own; default 1"},
    {"chat", kAll, "true: the prompt is OpenAI's list of messages as JSON, and the output \"message\" is the answer"},
    {"chat-template", kAll,
     "instead of the model's: a name of llama.cpp's; model: also the text of a template, in Jinja"},
    {"tools", kAll, "with chat: OpenAI's list of tools that the model may call"},
    {"tool-choice", kAll,
     "\"auto\", \"none\", \"required\", or {\"type\": \"function\", \"function\": {\"name\": …}}; default auto"},
    {"parallel-tool-calls", kAll, "true: the model may call more than one tool at once; default as in its template"},
    {"enable-thinking", kAll, "false: the template asks for an answer without reasoning; default true"},
    {"reasoning-format", kAll,
     "\"auto\", \"deepseek\": reasoning is separate from the answer; \"none\": a part of it; default auto"},
    {"chat-template-kwargs", kAll, "object: more variables of the template"},
    {"add-generation-prompt", kAll, "false: the prompt ends with the last message; default true"},
    {"continue-final-message", kAll,
     "\"auto\": the answer continues the last message, if that is the assistant's; \"always\", \"content\", "
     "\"reasoning_content\": likewise, and an error with add-generation-prompt; default never"},
    {"cache-prompt", kAll, "false: evaluates a prompt whole, even if it begins like the last one; default true"},
    {"prompt-steps", kAll,
     "true: each step evaluates at most batch-size tokens of the prompt, and has no text until it is "
     "evaluated; default false"},
    {"context-shift", kAll,
     "true: when the context is full, half of the text after the first `keep` tokens is discarded; default false"},
    {"keep", kAll, "tokens of the prompt that a shift keeps; -1: all; default 0"},
    {"save-state", kGuests, "name of a state that is saved in memory at the end of a generation"},
    {"restore-state", kGuests, "name of a state that a generation begins with, as far as its prompt begins like it"},
    {"erase-state", kGuests, "name of a state that is erased before a generation"},
    {"enable-log", kAll, "true: llama.cpp's messages go to the host's log"},
    {WASINN_KEY_ANY, kGuests,
     "other keys of guests are named in a warning; image and tts are errors, and mmproj without the host's projector"},
    {"stream-stdout", kAll,
     "true: `wasinn run` writes each piece of the text to the guest's stdout as it comes; other hosts do not"},
};

// A context of the length that current models are trained with exceeds most machines' memory.
constexpr uint32_t kDefaultContext = 4096;
constexpr uint32_t kMaxContext = 1 << 24, kDefaultBatch = 2048, kDefaultMicroBatch = 512, kMaxParallel = 64;

void CheckPaths(const std::map<std::string, std::string>& loras) {
  for (const auto& [name, path] : loras) {
    if (path.starts_with('/')) continue;
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "loras: {}: expected an absolute path, found '{}'", name, path);
  }
}

ProjectorSettings ReadProjector(const Config& host) {
  constexpr int64_t kMaxImageTokens = 1 << 20;
  ProjectorSettings settings;
  settings.path = host.String("projector").value_or("");
  if (!settings.path.empty() && !settings.path.starts_with('/')) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "projector: expected an absolute path, found '{}'", settings.path);
  }
  settings.least_tokens = static_cast<int32_t>(host.Integer("image-min-tokens", 1, kMaxImageTokens).value_or(-1));
  settings.most_tokens = static_cast<int32_t>(host.Integer("image-max-tokens", 1, kMaxImageTokens).value_or(-1));
  return settings;
}

}  // namespace

std::span<const wasinn_key> Keys() { return kKeys; }

bool IsGuestKey(std::string_view name) {
  return name == "mmproj" || name == "image" || name == "tts" ||
         std::ranges::any_of(kKeys, [name](const wasinn_key& key) {
           return (key.where & WASINN_KEY_GUEST) != 0 && name == key.name && name != WASINN_KEY_ANY;
         });
}

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
  // llama.cpp aborts on a position without an embedding.
  const uint32_t most =
      scan.positions > 0 ? static_cast<uint32_t>(std::min<uint64_t>(scan.positions, kMaxContext)) : kMaxContext;
  const auto trained = static_cast<uint32_t>(std::clamp<uint64_t>(scan.trained_context, 1, most));
  parsed.parallel = static_cast<uint32_t>(host.Integer("parallel", 0, kMaxParallel).value_or(0));
  parsed.map = host.Bool("mmap").value_or(true);
  parsed.split = GpuSplit::Parse(host);
  parsed.shared_prompt = host.String("shared-prompt").value_or("");
  if (const auto loras = host.Strings("loras")) parsed.loras.insert(loras->begin(), loras->end());
  CheckPaths(parsed.loras);
  parsed.projector = ReadProjector(host);
  parsed.draft = DraftSettings::Parse(host);
  if (parsed.parallel > 0 && !parsed.draft.path.empty()) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT,
          "draft: expected no \"parallel\": batches of several contexts do not use drafts");
  }
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
  // The host may exceed all of these except its threads; its values are the limits for guests.
  settings.Apply(
      host, {.context = most, .batch = 1 << 16, .micro_batch = 1 << 16, .threads = backend.threads, .templates = true},
      parsed.loras);
  const bool host_says = host.Integer("ctx-size", 0, kMaxContext).value_or(0) > 0;
  parsed.limits = {.context = host_says ? settings.context : trained,
                   .batch = settings.batch,
                   .micro_batch = settings.micro_batch,
                   .threads = settings.threads,
                   .grammars = backend.guest_grammars};
  // The host sets the size of a shared context.
  if (parsed.parallel > 0) parsed.limits.context = settings.context;
  settings.Apply(guest, parsed.limits, parsed.loras);
  return parsed;
}

}  // namespace wasinn::llama
