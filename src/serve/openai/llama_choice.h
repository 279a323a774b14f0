// A finished text in llama.cpp's own form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "serve/openai/text_form.h"

namespace wasinn::serve::openai {

inline constexpr int kNoSlot = -1;  // clients cannot choose a slot

// The members that do not come from the model.
struct LlamaChoice {
  size_t index = 0;
  std::string content;
  std::vector<int32_t> tokens;
  std::string model;
  bool is_stream = false;
  bool has_new_line = false;
};

// All members except probabilities.
Outcome<nlohmann::json> ToJson(Completion& completion, const Ending& ending, LlamaChoice choice);

}  // namespace wasinn::serve::openai
