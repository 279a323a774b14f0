// Images and sounds in what a guest sends.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "llama/media_prompt.h"

namespace wasinn::llama {

// Of messages in OpenAI's form those parts that are images ("image_url", with a data: URL) or sounds ("input_audio").
class MediaMessages {
 public:
  // Nothing where there are none. `messages`: JSON, which must stay. Throws WASINN_ERROR_INVALID_ARGUMENT for what is no
  // message, and for a URL of something that would have to be fetched.
  static std::optional<MediaMessages> Take(std::string_view messages);

  // The messages with a marker in place of each, which nobody can guess.
  const std::string& text() const { return text_; }

  // What a template has made of the messages, with the images where they belong. The prompt must stay. Throws
  // WASINN_ERROR_INVALID_ARGUMENT where one is not there, or twice.
  std::vector<MediaPart> Split(std::string_view prompt) const;

 private:
  class Reader;

  std::string text_;
  std::string marker_;
  std::vector<MediaPart> files_;
  std::deque<std::string> kept_;  // of what cannot be read where it is
};

// A prompt that is a text has them as HTML does: <img src="data:image/png;base64,…">, <audio src="data:audio/wav;base64,…">.
// One part: there are none.
std::vector<MediaPart> SplitAtTags(std::string_view prompt);

}  // namespace wasinn::llama
