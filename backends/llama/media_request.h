// Images and sounds in a guest's prompts.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "llama/media_prompt.h"

namespace wasinn::llama {

// Parts of messages in OpenAI's form that are images ("image_url", with a data: URL) or sounds ("input_audio").
class MediaMessages {
 public:
  // Empty without such parts. `messages`: JSON, which must outlive the result. Throws WASINN_ERROR_INVALID_ARGUMENT for
  // an invalid message, and for a URL that would have to be fetched.
  static std::optional<MediaMessages> Take(std::string_view messages);

  // The messages, with an unguessable marker instead of each part.
  const std::string& text() const { return text_; }

  // Splits a template's result at the markers. The prompt must outlive the result. Throws WASINN_ERROR_INVALID_ARGUMENT
  // if a marker is missing or occurs twice.
  std::vector<MediaPart> Split(std::string_view prompt) const;

 private:
  class Reader;

  std::string text_;
  std::string marker_;
  std::vector<MediaPart> files_;
  std::deque<std::string> kept_;  // parts that cannot be read in place
};

// A text prompt has them as in HTML: <img src="data:image/png;base64,…">, <audio src="data:audio/wav;base64,…">. One
// part: there are none.
std::vector<MediaPart> SplitAtTags(std::string_view prompt);

}  // namespace wasinn::llama
