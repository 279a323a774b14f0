#include "torch/code_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/error.h"

namespace wasinn::torch {

using backend::Error;

namespace {

constexpr size_t kDeepestBrackets = 500;
constexpr size_t kDeepestIndent = 400;
constexpr size_t kLongestStatement = size_t{256} << 10;
// The lexer calls itself for each line without code, the parser for each elif. PyTorch's printer writes few of the one
// and none of the other.
constexpr size_t kMostEmptyLines = 10'000;
constexpr size_t kMostElifs = 1'000;

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

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r'; }

// Goes through a file as PyTorch's lexer does.
class CodeScan {
 public:
  CodeScan(const std::string& name, std::string_view text) : name_(name), text_(text) {}

  void Run() {
    for (size_t i = 0; i < text_.size(); i = Next(i)) {
      if (++statement_ > kLongestStatement) {
        Refuse(name_, fmt::format("has a statement of over {} bytes", kLongestStatement));
      }
    }
  }

 private:
  // Looks at what is at `i`; where to go on.
  size_t Next(size_t i) {
    const char c = text_[i];
    if (c == '\n') return EndLine(), i + 1;
    if (c == '#') return SkipComment(i);
    if (!code_in_line_ && IsSpace(c)) {
      if (++indent_ > kDeepestIndent) Refuse(name_, "has blocks nested too deeply");
      return i + 1;
    }
    if (!std::exchange(code_in_line_, true)) LookAtBeginning(text_.substr(i));
    empty_lines_ = 0;
    if (c == '\'' || c == '"') return EndOfString(text_, i);
    LookAt(c);
    return i + 1;
  }

  void EndLine() {
    if (depth_ == 0) statement_ = 0;
    if (!code_in_line_ && ++empty_lines_ > kMostEmptyLines) Refuse(name_, "has too many lines without code");
    code_in_line_ = false, indent_ = 0;
  }

  size_t SkipComment(size_t i) const {
    // PyTorch parses what follows.
    if (text_.substr(i).starts_with("# type:")) Refuse(name_, "has a type in a comment");
    return std::min(text_.find('\n', i), text_.size());
  }

  void LookAtBeginning(std::string_view line) {
    if (line.starts_with("elif") && ++elifs_ > kMostElifs) Refuse(name_, "has too many branches");
  }

  void LookAt(char c) {
    if (c == '\\') Refuse(name_, "has a line that goes on in the next");
    if (c == '(' || c == '[' || c == '{') {
      if (++depth_ > kDeepestBrackets) Refuse(name_, "has expressions nested too deeply");
    } else if ((c == ')' || c == ']' || c == '}') && depth_ > 0) {
      --depth_;
    }
  }

  const std::string& name_;
  const std::string_view text_;
  size_t depth_ = 0, statement_ = 0, indent_ = 0, empty_lines_ = 0, elifs_ = 0;
  bool code_in_line_ = false;
};

}  // namespace

void ScanCode(const std::string& name, std::string_view text) {
  for (const char* word : {"__setstate__", "__getstate__"}) {
    if (text.find(word) != std::string_view::npos) Refuse(name, fmt::format("has a method {}", word));
  }
  CodeScan(name, text).Run();
}

}  // namespace wasinn::torch
