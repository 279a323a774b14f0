// Finds the trigger from which on a grammar applies.
#pragma once

#include <regex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "llama/chat.h"
#include "llama/llama_library.h"

namespace wasinn::llama {

// llama.cpp's own sampler searches all generated text after each token, with a recursion for each character. This one
// searches only its end.
class TriggerWatch {
 public:
  explicit TriggerWatch(const ChatForm& form);

  // Whether the grammar begins in this token's piece. Reasoning never begins it.
  bool Add(llama_token token, std::string_view piece);

  // The tokens from the beginning of the grammar on; the first one without its earlier text.
  struct Part {
    llama_token token;
    std::string_view text;  // valid until the next Add
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
  size_t start_ = std::string::npos;  // of the match
  std::vector<llama_token> tokens_;
  std::vector<size_t> lengths_;  // of the pieces
  std::string text_;             // all pieces
};

}  // namespace wasinn::llama
