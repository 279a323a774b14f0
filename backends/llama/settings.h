// What a generation does, as guests set it.
#ifndef WASINN_BACKENDS_LLAMA_SETTINGS_H_
#define WASINN_BACKENDS_LLAMA_SETTINGS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/config.h"

namespace wasinn::llama {

// The most that may be asked for.
struct SettingsLimits {
  uint32_t context = 0;  // tokens
  uint32_t batch = 0;
  uint32_t micro_batch = 0;
  int threads = 1;
  bool grammars = true;
};

// The names and defaults are llama.cpp's.
struct Settings {
  // Of the llama context, which is made anew when one of these changes.
  uint32_t context = 0;
  uint32_t batch = 0;
  uint32_t micro_batch = 0;
  int threads = 1;
  bool embedding = false;
  std::string lora;  // a name of the host's; empty: none
  double lora_scale = 1;

  int32_t predict = -1;  // tokens; -1: until the model ends, or its context is full
  int32_t top_k = 40;
  double temperature = 0.8;  // 0: always the most probable token
  double top_p = 0.95;
  double min_p = 0.05;
  double typical_p = 1;
  double repeat_penalty = 1;
  double presence_penalty = 0;
  double frequency_penalty = 0;
  int64_t seed = -1;  // -1: another each time
  std::string grammar;
  std::string json_schema;
  std::vector<std::string> stop_words;
  bool chat = false;
  std::string chat_template;  // one of llama.cpp's names; empty: the model's
  bool cache_prompt = true;
  bool log = false;

  // What `config` says on top of these. Throws WASINN_INVALID_ARGUMENT that names a key and its limits.
  void Apply(const backend::Config& config, const SettingsLimits& limits,
             const std::map<std::string, std::string>& loras);

  // Whether the same llama context serves both.
  bool SameContext(const Settings& other) const;
};

// Whether Apply, or the host, does something with the key.
bool IsSettingsKey(const std::string& key);

}  // namespace wasinn::llama

#endif  // WASINN_BACKENDS_LLAMA_SETTINGS_H_
