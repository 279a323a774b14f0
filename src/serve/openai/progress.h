// The evaluation of a prompt, for clients that want to see it in a stream.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include <nlohmann/json.hpp>

#include "serve/threads/completion.h"

namespace wasinn::serve::openai {

// For one text; used by one thread at a time.
class Progress {
 public:
  // `is_wanted`: false: there is never any progress. `begun`: when the text began.
  Progress(bool is_wanted, std::chrono::steady_clock::time_point begun) : is_over_(!is_wanted), begun_(begun) {}

  // llama.cpp's `prompt_progress`, whose first event has the tokens that were evaluated before. Empty: no progress
  // since the last call.
  Outcome<std::optional<nlohmann::json>> Next(Completion& completion);
  // The prompt is evaluated, or the client does not want to see it.
  bool is_over() const { return is_over_; }

 private:
  bool is_over_;
  std::chrono::steady_clock::time_point begun_;
  std::optional<uint64_t> reported_;  // tokens
};

}  // namespace wasinn::serve::openai
