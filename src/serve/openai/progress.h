// How far a prompt is evaluated, for a client of a stream that asks for it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include <nlohmann/json.hpp>

#include "serve/threads/completion.h"

namespace wasinn::serve::openai {

// Of one text, on one thread at a time.
class Progress {
 public:
  // `is_wanted`: else there is never anything new. `begun`: when the text was.
  Progress(bool is_wanted, std::chrono::steady_clock::time_point begun) : is_over_(!is_wanted), begun_(begun) {}

  // By what the model tells: `prompt_progress`, as llama.cpp's server has it, which begins with what was evaluated before. Nothing: nothing
  // is new.
  Outcome<std::optional<nlohmann::json>> Next(Completion& completion);
  // Nothing more comes: the prompt is evaluated, or nobody wants it.
  bool is_over() const { return is_over_; }

 private:
  bool is_over_;
  std::chrono::steady_clock::time_point begun_;
  std::optional<uint64_t> told_;  // tokens
};

}  // namespace wasinn::serve::openai
