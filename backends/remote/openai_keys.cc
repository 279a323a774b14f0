#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "remote/openai_settings.h"

namespace wasinn::remote {

namespace {

constexpr uint32_t kGuests = WASINN_KEY_GUEST | WASINN_KEY_CONTEXT;
constexpr uint32_t kAll = WASINN_KEY_MODEL | kGuests;
// They say how a model computes here, or belong to keys that are refused. Programs and configurations ask for what was
// right on another machine.
constexpr char kWithoutEffect[] = "of a language model, as with the backend llama; no effect, since its server decides";
constexpr wasinn_key kLanguageKeys[] = {
    {"api", WASINN_KEY_MODEL,
     "of a language model: what the server has of chat, completions and embeddings, if not all; default auto"},
    {"max_tokens_field", WASINN_KEY_MODEL,
     "of a language model: max_tokens or max_completion_tokens, by which the server knows n-predict; default "
     "max_tokens"},
    {"parallel", WASINN_KEY_MODEL,
     "of a language model: how many requests of clients `wasinn serve` passes on at once; default 64"},
    {"n-predict", kAll, "tokens to generate; -1: as many as the server allows, which is the default"},
    {"temp", kAll, "temperature; 0: always the most probable token; default: the server's (also for the keys below)"},
    {"top-p", kAll, "sample from the most probable tokens that make up p"},
    {"presence-penalty", kAll, "of the last tokens"},
    {"frequency-penalty", kAll, "of the last tokens"},
    {"seed", kAll, "of the random numbers; -1: another each time"},
    {"logit-bias", kAll, "what to add to the logits of tokens: {\"token\": number}"},
    {"n-probs", kAll, "0 to 20: the output \"probabilities\" has each token's, and those of so many others"},
    {"reverse-prompt", kAll, "text, or texts, where generation stops; it is not part of the completion"},
    {"json-schema", kAll, "JSON schema that the completion follows: text or an object"},
    {"chat", kAll, "true: the prompt is OpenAI's list of messages as JSON, and the output \"message\" is the answer"},
    {"tools", kAll, "with chat: OpenAI's list of tools that the model may call"},
    {"tool-choice", kAll,
     "\"auto\", \"none\", \"required\", or {\"type\": \"function\", \"function\": {\"name\": …}}; default auto"},
    {"parallel-tool-calls", kAll, "whether the model may call more than one tool at once"},
    {"embedding", kAll, "true: the output is the prompt's embedding"},
    {"texts", kAll,
     "with embedding: the prompt is a JSON list of texts, and the output \"embeddings\" has one of each"},
    {"tokens", kAll, "true: the prompt is a list of tokens"},
    {"chat-template-kwargs", kAll, "of llama.cpp's and vLLM's servers: an object, more variables of the template"},
    {"enable-thinking", kAll, "of the same: false: the template asks for an answer without reasoning"},
    {"add-generation-prompt", kAll, "of the same: false: the prompt ends with the last message"},
    {"continue-final-message", kAll,
     "of the same: always: the answer goes on with the last message; also never, auto, content, reasoning_content"},
    {"top-k", kAll, "of the same: sample from the k most probable tokens; 0: from all"},
    {"min-p", kAll, "of the same: sample from tokens of at least p of the most probable one's probability"},
    {"typical-p", kAll, "of llama.cpp's server, as all that follow: locally typical sampling"},
    {"repeat-penalty", kAll, "of the last tokens"},
    {"repeat-last-n", kAll, "how many tokens the penalties look at"},
    {"dry-multiplier", kAll, "DRY, against sequences that repeat themselves"},
    {"dry-base", kAll, "DRY's base"},
    {"dry-allowed-length", kAll, "how long a sequence may be that repeats itself"},
    {"dry-penalty-last-n", kAll, "of how many tokens"},
    {"dry-sequence-breaker", kAll, "texts that end a sequence"},
    {"xtc-probability", kAll, "XTC, which leaves out the most probable tokens: how often"},
    {"xtc-threshold", kAll, "of at least which probability"},
    {"mirostat", kAll, "Mirostat's version in place of the other samplers; 0: off"},
    {"mirostat-ent", kAll, "Mirostat's entropy"},
    {"mirostat-lr", kAll, "Mirostat's learning rate"},
    {"grammar", kAll, "grammar (GBNF) that the completion follows"},
    {"reasoning-format", kAll, "\"auto\", \"deepseek\": reasoning is apart from the answer; \"none\": a part of it"},
    {"cache-prompt", kAll, "false: a prompt that begins as the last one is evaluated whole"},
    {"ignore-eos", kAll, "true: no token that ends a text is chosen"},
    {"embd-normalize", kAll, "of embeddings, by llama.cpp's numbers"},
    {"ctx-size", kAll, kWithoutEffect},
    {"batch-size", kAll, kWithoutEffect},
    {"ubatch-size", kAll, kWithoutEffect},
    {"threads", kAll, kWithoutEffect},
    {"n-gpu-layers", kAll, kWithoutEffect},
    {"cache-type-k", kAll, kWithoutEffect},
    {"cache-type-v", kAll, kWithoutEffect},
    {"flash-attn", kAll, kWithoutEffect},
    {"enable-log", kAll, kWithoutEffect},
    {"stream-stdout", kAll, kWithoutEffect},
    {"position", kAll, kWithoutEffect},
    {"top-logits", kAll, kWithoutEffect},
    {"lora-scale", kAll, kWithoutEffect},
    {"keep", kAll, kWithoutEffect},
    {"prompt-steps", kAll, kWithoutEffect},
    {"with-pieces", kAll, kWithoutEffect},
    {"report", kAll, kWithoutEffect},
    {WASINN_KEY_ANY, kGuests,
     "of a language model: keys of the backend llama that say how it computes have no effect, those that no server can "
     "follow are errors, and others are named in a warning"},
};

// Beside kRefusedFlags and kRefusedTexts. Apply looks whether they ask for something.
constexpr std::string_view kRefused[] = {"lora", "add-special", "mmproj", "image"};

bool IsOneOf(const std::string& key, const auto& keys) { return std::ranges::find(keys, key) != std::end(keys); }

}  // namespace

std::span<const wasinn_key> LanguageKeys() { return kLanguageKeys; }

std::vector<std::string> UnknownKeys(const backend::Config& config) {
  constexpr size_t kMost = 8, kLongest = 40;
  const auto is_guests = [](const std::string& name) {
    return std::ranges::any_of(
        kLanguageKeys, [&](const wasinn_key& key) { return (key.where & WASINN_KEY_GUEST) != 0 && name == key.name; });
  };
  std::vector<std::string> unknown;
  for (const std::string& key : config.Keys()) {
    const bool is_known =
        is_guests(key) || IsOneOf(key, kRefused) || IsOneOf(key, kRefusedFlags) || IsOneOf(key, kRefusedTexts);
    if (is_known || unknown.size() == kMost) continue;
    std::string& shown = unknown.emplace_back(key.substr(0, kLongest));
    std::ranges::replace_if(shown, [](char c) { return c < ' ' || c > '~'; }, '?');
  }
  return unknown;
}

}  // namespace wasinn::remote
