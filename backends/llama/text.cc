#include "llama/text.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace wasinn::llama {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

enum class CharacterKind { kWhole, kCut, kInvalid };
struct Character {
  CharacterKind kind;
  size_t bytes;  // present bytes, or bytes that are not a character
};

// The range of the second byte after this first one, from Unicode's table of well-formed sequences.
std::pair<uint8_t, uint8_t> SecondByte(uint8_t first) {
  switch (first) {
    case 0xE0:
      return {0xA0, 0xBF};
    case 0xED:
      return {0x80, 0x9F};
    case 0xF0:
      return {0x90, 0xBF};
    case 0xF4:
      return {0x80, 0x8F};
    default:
      return {0x80, 0xBF};
  }
}

Character FirstCharacter(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return {CharacterKind::kWhole, 1};
  const size_t size = first >= 0xC2 && first <= 0xDF   ? 2
                      : (first & 0xF0) == 0xE0         ? 3
                      : first >= 0xF0 && first <= 0xF4 ? 4
                                                       : 0;
  if (size == 0) return {CharacterKind::kInvalid, 1};
  for (size_t i = 1; i < size; ++i) {
    if (i == text.size()) return {CharacterKind::kCut, i};
    const auto [least, greatest] = i == 1 ? SecondByte(first) : std::pair<uint8_t, uint8_t>(0x80, 0xBF);
    if (byte(i) < least || byte(i) > greatest) return {CharacterKind::kInvalid, i};
  }
  return {CharacterKind::kWhole, size};
}

// Moves whole characters; `all`: and the rest.
void MoveCharacters(std::string* from, std::string* to, bool all) {
  size_t at = 0;
  while (at < from->size()) {
    const std::string_view rest = std::string_view(*from).substr(at);
    const Character next = FirstCharacter(rest);
    if (next.kind == CharacterKind::kCut && !all) break;
    *to += next.kind == CharacterKind::kWhole ? rest.substr(0, next.bytes) : kReplacement;
    at += next.bytes;
  }
  from->erase(0, at);
}

}  // namespace

size_t EndOfCharacters(std::string_view text, size_t most) {
  if (most >= text.size()) return text.size();
  size_t end = most;
  while (end > 0 && most - end < 3 && (static_cast<uint8_t>(text[end]) & 0xC0) == 0x80) --end;
  return end;
}

size_t FindInvalidUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const Character next = FirstCharacter(text.substr(at));
    if (next.kind != CharacterKind::kWhole) return at;
    at += next.bytes;
  }
  return std::string_view::npos;
}

std::string PieceWriter::Add(std::string_view bytes) {
  if (stopped()) return "";
  bytes_ += bytes;
  MoveCharacters(&bytes_, &held_, false);
  return TakeSure(false);
}

std::string PieceWriter::End() {
  if (stopped()) return "";
  MoveCharacters(&bytes_, &held_, true);
  return TakeSure(true);
}

std::string PieceWriter::TakeSure(bool all) {
  size_t sure = held_.size();
  for (const std::string& word : stop_words_) {
    const size_t at = held_.find(word);
    if (at == std::string::npos || (stopped() && at >= sure)) continue;
    sure = at;
    stop_word_ = word;
  }
  // The longest suffix that a stop word begins with.
  for (const std::string& word : stop_words_) {
    if (all || stopped()) break;
    for (size_t n = std::min(word.size() - 1, held_.size()); n > 0; --n) {
      if (!std::string_view(held_).ends_with(std::string_view(word).substr(0, n))) continue;
      sure = std::min(sure, held_.size() - n);
      break;
    }
  }
  // The beginning of a stop word may match within a character, which must not be cut.
  sure = EndOfCharacters(held_, sure);
  std::string taken = held_.substr(0, sure);
  held_.erase(0, sure);
  if (stopped()) held_.clear();
  return taken;
}

}  // namespace wasinn::llama
