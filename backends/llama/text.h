// Text that comes in pieces.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wasinn::llama {

// Where a text stops being UTF-8; npos: nowhere.
size_t FindInvalidUtf8(std::string_view text);

// Where the last character ends that is whole within the first `most` bytes of UTF-8.
size_t EndOfCharacters(std::string_view text, size_t most);

// Makes whole characters of the bytes of tokens, and stops at the first of some words.
class PieceWriter {
 public:
  // No empty ones.
  explicit PieceWriter(std::vector<std::string> stop_words) : stop_words_(std::move(stop_words)) {}

  // Adds a token's bytes, and returns what is sure by now: whole characters, without what may become a stop word. Bytes
  // that are not UTF-8 are U+FFFD.
  std::string Add(std::string_view bytes);
  // There are no more tokens: what was held back.
  std::string End();
  // A stop word has come. It is not part of the text, and neither is what follows.
  bool stopped() const { return !stop_word_.empty(); }
  // Which one; "": none.
  const std::string& stop_word() const { return stop_word_; }

 private:
  std::string TakeSure(bool all);

  const std::vector<std::string> stop_words_;
  std::string bytes_;  // of a character that is not whole yet
  std::string held_;   // text that may be the beginning of a stop word
  std::string stop_word_;
};

}  // namespace wasinn::llama
