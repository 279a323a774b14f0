// Text that comes in pieces.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wasinn::llama {

// The place where a text stops being UTF-8; npos: it is UTF-8.
size_t FindInvalidUtf8(std::string_view text);

// The end of the last whole character within the first `most` bytes of UTF-8.
size_t EndOfCharacters(std::string_view text, size_t most);

// Makes whole characters of the bytes of tokens, and stops at the first stop word.
class PieceWriter {
 public:
  // The words must not be empty.
  explicit PieceWriter(std::vector<std::string> stop_words) : stop_words_(std::move(stop_words)) {}

  // Adds a token's bytes, and returns the text that is certain: whole characters, without the possible beginning of a
  // stop word. Invalid UTF-8 becomes U+FFFD.
  std::string Add(std::string_view bytes);
  // Returns the held-back text after the last token.
  std::string End();
  // A stop word came. It and later text are not part of the result.
  bool stopped() const { return !stop_word_.empty(); }
  // The stop word; "": none.
  const std::string& stop_word() const { return stop_word_; }

 private:
  std::string TakeSure(bool all);

  const std::vector<std::string> stop_words_;
  std::string bytes_;  // of an incomplete character
  std::string held_;   // possible beginning of a stop word
  std::string stop_word_;
};

}  // namespace wasinn::llama
