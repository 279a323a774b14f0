// When a grammar begins that holds from a trigger on.
#ifndef WASINN_BACKENDS_LLAMA_TRIGGER_WATCH_H_
#define WASINN_BACKENDS_LLAMA_TRIGGER_WATCH_H_

#include <regex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "llama/chat.h"
#include "llama/llama_library.h"

namespace wasinn::llama {

// llama.cpp's own sampler looks through all that was generated behind each token, by a function that calls itself for
// each character. This one looks at the last of it, and llama.cpp's gets only what that takes.
class TriggerWatch {
 public:
  explicit TriggerWatch(const ChatForm& form);

  // Whether the grammar begins in this token's piece. Nothing in the model's reasoning begins it.
  bool Add(llama_token token, std::string_view piece);

  // What llama.cpp's sampler finds the trigger in.
  std::span<const llama_token> tokens() const { return tokens_; }
  // By which of these: those for the beginning of the text are of no use any more once that is not looked at.
  std::vector<const char*> Patterns() const;
  bool has_lost_beginning() const { return cut_; }

 private:
  struct Trigger {
    std::string pattern;
    std::regex regex;
    bool at_beginning = false, whole = false;
  };

  bool Finds() const;
  bool Think(llama_token token, std::string_view piece);
  void Begin(llama_token token, std::string_view piece);
  void Cut();

  std::vector<Trigger> triggers_;
  const std::string thinking_start_;
  const std::vector<std::string> thinking_ends_;
  bool thinking_ = false;
  bool cut_ = false;
  std::vector<llama_token> tokens_;
  std::vector<size_t> lengths_;  // of their pieces
  std::string text_;             // of all of them
};

}  // namespace wasinn::llama

#endif  // WASINN_BACKENDS_LLAMA_TRIGGER_WATCH_H_
