// The keys of the backend's table, apart from the code that reads them: the library that hosts open to list keys links
// neither gRPC nor OpenSSL.
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "remote/config.h"
#include "remote/openai.h"

namespace wasinn::remote {

namespace {

constexpr uint32_t kBoth = WASINN_KEY_BACKEND | WASINN_KEY_MODEL;
constexpr uint32_t kGuests = WASINN_KEY_GUEST | WASINN_KEY_CONTEXT;
constexpr uint32_t kAll = WASINN_KEY_MODEL | kGuests;
// These keys say how a model computes locally, or belong to keys that are refused. Programs and configurations may
// still set them for other machines.
constexpr char kWithoutEffect[] = "for language models; no effect: the server decides how it computes";
constexpr const char* kFirstOfLanguage = "api";  // later keys are those of language models
constexpr wasinn_key kKeys[] = {
    {"ca", kBoth, "absolute path of the certificate authorities (PEM) that may sign servers; default: the machine's"},
    {"cert", kBoth, "absolute path of the client certificate (PEM) for servers; with key"},
    {"key", kBoth, "absolute path of that certificate's private key (PEM)"},
    {"server_name", kBoth, "the name that a server's certificate must have; default: the address's host"},
    {"headers", kBoth, "table of headers of each call, {authorization = \"Bearer …\"}"},
    {"idempotent", kBoth, "true: a request may be computed twice, so lost calls are repeated; default false"},
    {"retries", kBoth, "most repetitions of a call of an idempotent model: 0 to 16, default 2"},
    {"max_message_bytes", kBoth, "most bytes of one request or answer; default 64 MiB"},
    {"connect_timeout_ms", kBoth, "how long connecting may take; default 5000"},
    {"load_timeout_ms", kBoth, "how long all servers together may take to describe a model at load; default 30000"},
    {"max_connections", kBoth, "most connections to one HTTP server, each with one call; more calls wait; default 256"},
    {"health_interval_ms", kBoth, "time between two checks of each of several servers; default 1000"},
    {"health_timeout_ms", kBoth,
     "how long a check may take; after two late checks a server is unhealthy; default 1000"},
    {kFirstOfLanguage, WASINN_KEY_MODEL,
     "for language models: the server's APIs of chat, completions and embeddings, if not all; default auto"},
    {"max_tokens_field", WASINN_KEY_MODEL,
     "for language models: the server's name for n-predict, max_tokens or max_completion_tokens; default "
     "max_tokens"},
    {"parallel", WASINN_KEY_MODEL,
     "for language models: most requests that `wasinn serve` passes on at once; default 64"},
    {"n-predict", kAll, "tokens to generate; -1: as many as the server allows, which is the default"},
    {"temp", kAll, "temperature; 0: always the most probable token; default: the server's (also for the keys below)"},
    {"top-p", kAll, "sample from the most probable tokens that make up p"},
    {"presence-penalty", kAll, "penalty for tokens that occur among the last ones"},
    {"frequency-penalty", kAll, "penalty for tokens that occur among the last ones"},
    {"seed", kAll, "seed of the random numbers; -1: a new one each time"},
    {"logit-bias", kAll, "numbers to add to the logits of tokens: {\"token\": number}"},
    {"n-probs", kAll, "0 to 20: the output \"probabilities\" has each token's, and those of this many others"},
    {"reverse-prompt", kAll, "text or texts that end the generation, and are not part of the completion"},
    {"json-schema", kAll, "JSON schema that the completion follows: text or an object"},
    {"chat", kAll, "true: the prompt is OpenAI's list of messages as JSON, and the output \"message\" is the answer"},
    {"tools", kAll, "with chat: OpenAI's list of tools that the model may call"},
    {"tool-choice", kAll,
     "\"auto\", \"none\", \"required\", or {\"type\": \"function\", \"function\": {\"name\": …}}; default auto"},
    {"parallel-tool-calls", kAll, "whether the model may call more than one tool at once"},
    {"embedding", kAll, "true: the output is the prompt's embedding"},
    {"texts", kAll,
     "with embedding: the prompt is a JSON list of texts, and the output \"embeddings\" has one for each"},
    {"tokens", kAll, "true: the prompt is a list of tokens"},
    {"chat-template-kwargs", kAll, "for llama.cpp's and vLLM's servers: an object, more variables of the template"},
    {"enable-thinking", kAll, "for these servers: false: the template asks for an answer without reasoning"},
    {"add-generation-prompt", kAll, "for these servers: false: the prompt ends with the last message"},
    {"continue-final-message", kAll,
     "for these servers: always: the answer continues the last message; also never, auto, content, reasoning_content"},
    {"top-k", kAll, "for these servers: sample from the k most probable tokens; 0: from all"},
    {"min-p", kAll, "for these servers: sample from tokens with at least p times the highest probability"},
    {"typical-p", kAll, "for llama.cpp's server, like all keys below: locally typical sampling"},
    {"repeat-penalty", kAll, "penalty for tokens that occur among the last ones"},
    {"repeat-last-n", kAll, "number of last tokens for the penalties"},
    {"dry-multiplier", kAll, "DRY, against sequences that repeat themselves"},
    {"dry-base", kAll, "DRY's base"},
    {"dry-allowed-length", kAll, "longest sequence that may repeat itself"},
    {"dry-penalty-last-n", kAll, "number of last tokens for DRY"},
    {"dry-sequence-breaker", kAll, "texts that end a sequence"},
    {"xtc-probability", kAll, "XTC, which excludes the most probable tokens: how often"},
    {"xtc-threshold", kAll, "XTC: least probability of an excluded token"},
    {"mirostat", kAll, "Mirostat's version, instead of the other samplers; 0: off"},
    {"mirostat-ent", kAll, "Mirostat's entropy"},
    {"mirostat-lr", kAll, "Mirostat's learning rate"},
    {"grammar", kAll, "grammar (GBNF) that the completion follows"},
    {"reasoning-format", kAll, "\"auto\", \"deepseek\": reasoning is separate from the answer; \"none\": a part of it"},
    {"cache-prompt", kAll, "false: evaluates a prompt whole, even if it begins like the last one"},
    {"ignore-eos", kAll, "true: no token that ends a text is chosen"},
    {"embd-normalize", kAll, "normalization of embeddings, by llama.cpp's numbers"},
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
     "for language models: keys of the backend llama that say how it computes have no effect, those that no server can "
     "follow are errors, and others are named in a warning"},
};

// In addition to kRefusedFlags and kRefusedTexts. Apply checks whether they are in use.
constexpr std::string_view kRefused[] = {"lora", "add-special", "mmproj", "image"};

bool IsOneOf(const std::string& key, const auto& keys) { return std::ranges::find(keys, key) != std::end(keys); }

}  // namespace

std::span<const wasinn_key> Keys() { return kKeys; }

std::span<const wasinn_key> LanguageKeys() {
  const auto* const first = std::ranges::find(kKeys, kFirstOfLanguage, &wasinn_key::name);
  return {first, std::end(kKeys)};
}

std::vector<std::string> UnknownKeys(const backend::Config& config) {
  constexpr size_t kMax = 8, kLongest = 40;
  const auto is_guests = [](const std::string& name) {
    return std::ranges::any_of(
        LanguageKeys(), [&](const wasinn_key& key) { return (key.where & WASINN_KEY_GUEST) != 0 && name == key.name; });
  };
  std::vector<std::string> unknown;
  for (const std::string& key : config.Keys()) {
    const bool is_known =
        is_guests(key) || IsOneOf(key, kRefused) || IsOneOf(key, kRefusedFlags) || IsOneOf(key, kRefusedTexts);
    if (is_known || unknown.size() == kMax) continue;
    std::string& shown = unknown.emplace_back(key.substr(0, kLongest));
    std::ranges::replace_if(shown, [](char c) { return c < ' ' || c > '~'; }, '?');
  }
  return unknown;
}

}  // namespace wasinn::remote
