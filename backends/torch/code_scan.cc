#include "torch/code_scan.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"

namespace wasinn::torch {

using backend::Error;

namespace {

constexpr size_t kDeepestBrackets = 500;
constexpr size_t kDeepestIndent = 400;
constexpr size_t kLongestStatement = size_t{256} << 10;

[[noreturn]] void Refuse(const std::string& name, const std::string& why) {
  throw Error(WASINN_SECURITY, fmt::format("'{}' {}: not loaded from a guest", name, why));
}

// The end of a string literal that begins at `at`.
size_t EndOfString(std::string_view text, size_t at) {
  const char quote = text[at];
  const std::string_view triple = text.substr(at, 3);
  const bool is_triple = triple.size() == 3 && triple[1] == quote && triple[2] == quote;
  for (size_t i = at + (is_triple ? 3 : 1); i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == quote && (!is_triple || text.substr(i, 3) == triple)) {
      return i + (is_triple ? 3 : 1);
    }
  }
  return text.size();
}

}  // namespace

void ScanCode(const std::string& name, std::string_view text) {
  for (const char* word : {"__setstate__", "__getstate__"}) {
    if (text.find(word) != std::string_view::npos) Refuse(name, fmt::format("has a method {}", word));
  }
  size_t depth = 0, statement = 0, indent = 0;
  bool at_start = true;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (++statement > kLongestStatement)
      Refuse(name, fmt::format("has a statement of over {} bytes", kLongestStatement));
    if (c == '\n') {
      if (depth == 0) statement = 0;
      at_start = true, indent = 0;
      continue;
    }
    if (at_start && (c == ' ' || c == '\t')) {
      if (++indent > kDeepestIndent) Refuse(name, "has blocks nested too deeply");
      continue;
    }
    at_start = false;
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size()) - 1;
    } else if (c == '\'' || c == '"') {
      i = EndOfString(text, i) - 1;
    } else if (c == '(' || c == '[' || c == '{') {
      if (++depth > kDeepestBrackets) Refuse(name, "has expressions nested too deeply");
    } else if ((c == ')' || c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
}

}  // namespace wasinn::torch
