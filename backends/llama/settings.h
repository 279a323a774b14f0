// What a generation does, as guests set it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/config.h"
#include "llama/adapters.h"
#include "llama/cache_settings.h"
#include "llama/decode_settings.h"
#include "llama/sampling_settings.h"
#include "llama/state_settings.h"

namespace wasinn::llama {

// The most that may be asked for.
struct SettingsLimits {
  uint32_t context = 0;  // tokens
  uint32_t batch = 0;
  uint32_t micro_batch = 0;
  int threads = 1;
  bool grammars = true;
  bool templates = false;  // texts of chat templates, and not only names
};

// Of a generation with `chat`.
struct ChatSettings {
  std::string template_text;  // Jinja, or one of llama.cpp's names; empty: the model's
  std::string tools;          // JSON, as the other two; empty: none
  std::string tool_choice;
  std::string template_arguments;
  std::optional<bool> parallel_tool_calls;  // where it is not said, as the template has it
  bool enable_thinking = true;
  std::string reasoning_format = "auto";
  bool add_generation_prompt = true;
  // "never", "auto" (where it is the assistant's), or what of it: "always", "content", "reasoning_content".
  std::string continue_final_message = "never";

  void Apply(const backend::Config& config, const SettingsLimits& limits);
  bool names_template() const { return !template_text.empty() && !IsJinja(template_text); }
  static bool IsJinja(const std::string& text) { return text.find('{') != std::string::npos; }
};

// The names and defaults are llama.cpp's.
struct Settings {
  // Of the llama context, which is made anew when one of these changes.
  uint32_t context = 0;
  uint32_t batch = 0;
  uint32_t micro_batch = 0;
  int threads = 1;
  bool embedding = false;  // also for what ranks texts
  uint32_t outputs = 1;    // tokens of a batch that have logits; no key says it
  CacheSettings cache;

  AdapterSettings adapters;
  int32_t predict = -1;  // tokens; -1: until the model ends, or its context is full
  int32_t top_k = 40;
  double temperature = 0.8;  // 0: always the most probable token
  double top_p = 0.95;
  double min_p = 0.05;
  double typical_p = 1;
  double repeat_penalty = 1;
  int32_t repeat_tokens = 64;  // that the penalties look at; 0: none; -1: the whole context
  double presence_penalty = 0;
  double frequency_penalty = 0;
  int64_t seed = -1;  // -1: another each time
  SamplingSettings sampling;
  std::string grammar;
  std::string json_schema;
  std::vector<std::string> stop_words;
  std::vector<int32_t> stop_tokens;
  bool tokens = false;                        // the prompt is a list of them
  bool add_special = true;                    // what the tokenizer puts around a text
  bool report = false;                        // of what was asked for
  bool tokenize = false, detokenize = false;  // in place of a generation
  bool with_pieces = false;                   // of tokens that are told, their texts, too
  DecodeSettings decode;                      // as well
  bool texts = false, rerank = false;         // of embeddings: the prompt has many texts
  int32_t normalize = 2;                      // of embeddings, by llama.cpp's numbers
  bool chat = false;
  ChatSettings of_chat;
  bool cache_prompt = true;
  bool stream_stdout = false;  // the pieces go to the guest's standard output
  bool prompt_steps = false;   // a prompt is evaluated in steps of a batch
  bool shift = false;          // when the context is full, go on without a part of the text
  int32_t keep = 0;            // tokens of the prompt that are no such part; -1: all
  StateSettings state;
  bool log = false;

  // What `config` says on top of these. Throws WASINN_ERROR_INVALID_ARGUMENT that names a key and its limits.
  void Apply(const backend::Config& config, const SettingsLimits& limits,
             const std::map<std::string, std::string>& loras);

  // Whether the same llama context serves both.
  bool SameContext(const Settings& other) const;

 private:
  void SetTask(const backend::Config& config);
};

}  // namespace wasinn::llama
