#include "llama/trigger_watch.h"

#include <algorithm>

namespace wasinn::llama {

namespace {

// Longer than any trigger and any tag. std::regex takes some hundred bytes of stack for each.
constexpr size_t kMaxText = 2048, kKeptText = 512;

bool HasAny(std::string_view text, std::span<const std::string> words) {
  return std::ranges::any_of(words, [&](const std::string& word) { return text.find(word) != std::string_view::npos; });
}

// The prompt may end within reasoning that the template began.
bool IsOpen(const ChatForm& form) {
  if (form.thinking_start.empty() || form.thinking_ends.empty()) return false;
  const size_t start = form.generation_prompt.rfind(form.thinking_start);
  return start != std::string::npos &&
         !HasAny(std::string_view(form.generation_prompt).substr(start + form.thinking_start.size()),
                 form.thinking_ends);
}

}  // namespace

TriggerWatch::TriggerWatch(const ChatForm& form)
    : thinking_start_(form.thinking_ends.empty() ? "" : form.thinking_start),
      thinking_ends_(form.thinking_ends),
      thinking_(IsOpen(form)) {
  for (const std::string& pattern : form.triggers) {
    const bool at_beginning = pattern.starts_with('^');
    triggers_.push_back(
        {.regex = std::regex(pattern), .at_beginning = at_beginning, .whole = at_beginning && pattern.ends_with('$')});
  }
}

std::vector<TriggerWatch::Part> TriggerWatch::begun() const {
  std::vector<Part> parts;
  size_t end = 0;
  for (size_t i = 0; i < tokens_.size(); ++i) {
    const size_t begin = std::max(end, start_);
    end += lengths_[i];
    if (end > begin) parts.push_back({tokens_[i], std::string_view(text_).substr(begin, end - begin)});
  }
  return parts;
}

// Like llama.cpp (llama_grammar_trigger_pattern::find): the first group with a match.
size_t TriggerWatch::Find() const {
  for (const Trigger& trigger : triggers_) {
    if (cut_ && trigger.at_beginning) continue;
    std::smatch match;
    const bool is_found = (trigger.whole && std::regex_match(text_, match, trigger.regex)) ||
                          std::regex_search(text_, match, trigger.regex);
    if (!is_found) continue;
    const auto group = std::find_if(match.begin() + 1, match.end(), [](const auto& one) { return one.length() > 0; });
    return static_cast<size_t>(match.position(group == match.end() ? 0 : static_cast<size_t>(group - match.begin())));
  }
  return std::string::npos;
}

void TriggerWatch::Begin(llama_token token, std::string_view piece) {
  cut_ = cut_ || !text_.empty();
  tokens_.assign(1, token);
  lengths_.assign(1, piece.size());
  text_ = piece;
}

// Whether this token still belongs to the reasoning.
bool TriggerWatch::Think(llama_token token, std::string_view piece) {
  text_ += piece;
  if (!HasAny(text_, thinking_ends_)) {
    if (text_.size() > kMaxText) text_.erase(0, text_.size() - kKeptText);
    return true;
  }
  thinking_ = false;
  Begin(token, piece);
  return false;
}

bool TriggerWatch::Add(llama_token token, std::string_view piece) {
  if (thinking_) {
    if (Think(token, piece)) return false;
  } else {
    tokens_.push_back(token);
    lengths_.push_back(piece.size());
    text_ += piece;
  }
  if ((start_ = Find()) != std::string::npos) return true;
  if (!thinking_start_.empty() && text_.find(thinking_start_) != std::string::npos) {
    thinking_ = true;
    cut_ = true;
    tokens_.clear();
    lengths_.clear();
    text_.clear();
  }
  Cut();
  return false;
}

void TriggerWatch::Cut() {
  if (text_.size() <= kMaxText) return;
  size_t tokens = 0, bytes = 0;
  while (text_.size() - bytes > kKeptText) bytes += lengths_[tokens++];
  tokens_.erase(tokens_.begin(), tokens_.begin() + static_cast<ptrdiff_t>(tokens));
  lengths_.erase(lengths_.begin(), lengths_.begin() + static_cast<ptrdiff_t>(tokens));
  text_.erase(0, bytes);
  cut_ = true;
}

}  // namespace wasinn::llama
