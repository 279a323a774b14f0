// Settings of a generation.
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

// The limits of guests.
struct SettingsLimits {
  uint32_t context = 0;  // tokens
  uint32_t batch = 0;
  uint32_t micro_batch = 0;
  int threads = 1;
  bool grammars = true;
  bool templates = false;  // texts of chat templates, and not only names
};

// For a generation with `chat`.
struct ChatSettings {
  std::string template_text;  // Jinja, or one of llama.cpp's names; empty: the model's
  std::string tools;          // JSON, like the other two; empty: none
  std::string tool_choice;
  std::string template_arguments;
  std::optional<bool> parallel_tool_calls;  // empty: the template's default
  bool enable_thinking = true;
  std::string reasoning_format = "auto";
  bool add_generation_prompt = true;
  // "never", "auto" (if the assistant wrote it), or the part to continue: "always", "content", "reasoning_content".
  std::string continue_final_message = "never";

  void Apply(const backend::Config& config, const SettingsLimits& limits);
  bool names_template() const { return !template_text.empty() && !IsJinja(template_text); }
  // tool_choice is "required", or names a tool.
  bool requires_call() const { return tool_choice == R"("required")" || tool_choice.starts_with('{'); }
  static bool IsJinja(const std::string& text) { return text.find('{') != std::string::npos; }
};

// The names and defaults are llama.cpp's.
struct Settings {
  // For the llama context; a change needs a new one.
  uint32_t context = 0;
  uint32_t batch = 0;
  uint32_t micro_batch = 0;
  int threads = 1;
  bool embedding = false;  // also for ranking texts
  uint32_t outputs = 1;    // tokens of a batch with logits; not a key
  bool branches = false;   // as many texts as outputs, in one memory; not a key
  CacheSettings cache;

  AdapterSettings adapters;
  int32_t predict = -1;  // tokens; -1: until the model ends, or its context is full
  int32_t top_k = 40;
  double temperature = 0.8;  // 0: always the most probable token
  double top_p = 0.95;
  double min_p = 0.05;
  double typical_p = 1;
  double repeat_penalty = 1;
  int32_t repeat_tokens = 64;  // tokens for penalties; 0: none; -1: the whole context
  double presence_penalty = 0;
  double frequency_penalty = 0;
  int64_t seed = -1;  // -1: a new one each time
  SamplingSettings sampling;
  std::string grammar;
  std::string json_schema;
  std::vector<std::string> stop_words;
  std::vector<int32_t> stop_tokens;
  bool tokens = false;                        // the prompt is a list of tokens
  bool add_special = true;                    // special tokens around a text
  bool report = false;                        // the output `generation`
  bool tokenize = false, detokenize = false;  // instead of a generation
  bool with_pieces = false;                   // also returns the texts of tokens
  DecodeSettings decode;                      // the same
  bool texts = false, rerank = false;         // for embeddings: the prompt has many texts
  int32_t normalize = 2;                      // for embeddings, by llama.cpp's numbers
  bool chat = false;
  ChatSettings of_chat;
  bool cache_prompt = true;
  bool stream_stdout = false;  // the pieces go to the guest's standard output
  bool prompt_steps = false;   // evaluates a prompt in steps of a batch
  bool shift = false;          // when the context is full, continue without a part of the text
  int32_t keep = 0;            // tokens of the prompt that are never discarded; -1: all
  StateSettings state;
  bool log = false;

  // Applies `config` over these settings. Throws WASINN_ERROR_INVALID_ARGUMENT that names a key and its limits.
  void Apply(const backend::Config& config, const SettingsLimits& limits,
             const std::map<std::string, std::string>& loras);

  // Whether the same llama context fits both.
  bool SameContext(const Settings& other) const;

 private:
  void SetTask(const backend::Config& config);
};

}  // namespace wasinn::llama
