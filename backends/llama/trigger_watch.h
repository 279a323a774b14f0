// When a grammar begins that holds from a trigger on.
#pragma once

#include <regex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "llama/chat.h"
#include "llama/llama_library.h"

namespace wasinn::llama {

// llama.cpp's own sampler looks through all that was generated behind each token, by a function that calls itself for
// each character. This one looks at the last of it.
class TriggerWatch {
 public:
  explicit TriggerWatch(const ChatForm& form);

  // Whether the grammar begins in this token's piece. Nothing in the model's reasoning begins it.
  bool Add(llama_token token, std::string_view piece);

  // The tokens with which the grammar begins: the tokens from there on, the first of them without what comes before.
  struct Part {
    llama_token token;
    std::string_view text;  // as long as this is not changed
  };
  std::vector<Part> begun() const;

 private:
  struct Trigger {
    std::regex regex;
    bool at_beginning = false, whole = false;
  };

  size_t Find() const;
  bool Think(llama_token token, std::string_view piece);
  void Begin(llama_token token, std::string_view piece);
  void Cut();

  std::vector<Trigger> triggers_;
  const std::string thinking_start_;
  const std::vector<std::string> thinking_ends_;
  bool thinking_ = false;
  bool cut_ = false;                  // the beginning of the text is lost
  size_t start_ = std::string::npos;  // of what has begun it
  std::vector<llama_token> tokens_;
  std::vector<size_t> lengths_;  // of their pieces
  std::string text_;             // of all of them
};

}  // namespace wasinn::llama
