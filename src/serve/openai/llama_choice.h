// A text that has ended, as llama.cpp's server tells of it in its own form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "serve/openai/text_form.h"

namespace wasinn::serve::openai {

inline constexpr int kNoSlot = -1;  // a place here is not a client's to name

// What its model does not tell.
struct LlamaChoice {
  size_t index = 0;
  std::string content;
  std::vector<int32_t> tokens;
  std::string model;
  bool is_stream = false;
  bool has_new_line = false;
};

// All members, but for probabilities.
Outcome<nlohmann::json> ToJson(Completion& completion, const Ending& ending, LlamaChoice choice);

}  // namespace wasinn::serve::openai
