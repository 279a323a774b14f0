#include "serve/openai/llama_choice.h"

#include <utility>

#include "serve/openai/llama_settings.h"

namespace wasinn::serve::openai {

using nlohmann::json;

namespace {

// The evaluated tokens: all but the last one, unless an end token came after it.
uint64_t CachedTokens(const Ending& ending, const json& metadata) {
  const uint64_t discarded = metadata.value("discarded_tokens", uint64_t{0});
  const bool has_last = ending.completion_tokens > 0 && metadata.value("stop_type", json()) != "eos";
  return ending.prompt_tokens + ending.completion_tokens - discarded - (has_last ? 1 : 0);
}

// null: the model is on another server, which does not report it.
Outcome<json> ReadGeneration(Completion& completion) {
  const auto output = completion.Output("generation");
  if (!output) return std::unexpected(output.error());
  json read = json::parse(*output, nullptr, false);
  return read.is_object() ? read : json();
}

json StopType(const Ending& ending, const json& metadata) {
  if (const json type = metadata.value("stop_type", json()); type.is_string()) return type;
  return ending.reason == "length" ? "limit" : "eos";
}

}  // namespace

Outcome<json> ToJson(Completion& completion, const Ending& ending, LlamaChoice choice) {
  const auto metadata = ReadOutput(completion, "metadata");
  if (!metadata) return metadata;
  const auto generation = ReadGeneration(completion);
  if (!generation) return generation;
  json members = {{"index", choice.index},
                  {"content", std::move(choice.content)},
                  {"tokens", std::move(choice.tokens)},
                  {"id_slot", kNoSlot},
                  {"stop", true},
                  {"model", std::move(choice.model)},
                  {"tokens_predicted", ending.completion_tokens},
                  {"tokens_evaluated", ending.prompt_tokens},
                  {"has_new_line", choice.has_new_line},
                  {"truncated", metadata->value("truncated", false)},
                  {"stop_type", StopType(ending, *metadata)},
                  {"stopping_word", metadata->value("stopping_word", "")},
                  {"timings", TimingsOf(ending)}};
  if (generation->is_null()) return members;
  members["tokens_cached"] = CachedTokens(ending, *metadata);
  members["generation_settings"] = ToLlamaSettings(generation->value("settings", json::object()), choice.is_stream);
  members["prompt"] = generation->value("prompt", "");
  return members;
}

}  // namespace wasinn::serve::openai
