// Expectations as GoogleTest writes them, for checks that a command runs, too: what fails goes to whoever runs them. Not
// GoogleTest's own, which the installed command would need, and which has one program's tests and prints them itself.
// Not to be included beside GoogleTest.
#pragma once

#include <ostream>
#include <ranges>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>

#include "check/failures.h"

namespace wasinn::check {

// What a message shows of a value: as much as helps.
template <typename T>
void Show(std::ostream& out, const T& value) {
  constexpr size_t kMost = 16;
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    const std::string_view text(value);
    out << '"';
    for (const char c : text.substr(0, kMost * 4)) out << (c >= ' ' && c <= '~' ? c : '?');
    out << (text.size() > kMost * 4 ? "…\"" : "\"");
  } else if constexpr (std::ranges::range<T>) {
    out << '[';
    size_t n = 0;
    for (const auto& element : value) {
      if (n == kMost) break;
      if (n++ > 0) out << ", ";
      Show(out, element);
    }
    out << (std::ranges::size(value) > kMost ? ", …]" : "]");
  } else if constexpr (std::is_null_pointer_v<T>) {
    out << "NULL";
  } else if constexpr (requires { out << value; }) {
    out << value;
  } else {
    out << "an object";
  }
}

// One that failed, and what is said about it; told when the statement ends.
class Failure {
 public:
  Failure(const char* file, int line, const std::string& text) : file_(file), line_(line) { text_ << text; }
  ~Failure() { Tell(file_, line_, text_.str()); }
  Failure(const Failure&) = delete;
  Failure& operator=(const Failure&) = delete;
  template <typename T>
  const Failure& operator<<(const T& value) const {
    text_ << (is_first_ ? ": " : "") << value;
    is_first_ = false;
    return *this;
  }

 private:
  const char* const file_;
  const int line_;
  mutable std::ostringstream text_;
  mutable bool is_first_ = true;
};
struct Nothing {
  void operator&(const Failure&) const {}  // so that `return` has a statement of no value
};

// A copy, if there can be one: a value may be a part of something that is gone with its expression.
template <typename T>
std::conditional_t<std::is_copy_constructible_v<T>, T, const T&> Kept(const T& value) {
  return value;
}

template <typename A, typename B>
std::string Compared(const char* words, const A& a, const B& b) {
  std::ostringstream text;
  text << "expected " << words << ", which are ";
  Show(text, a);
  text << " and ";
  Show(text, b);
  return text.str();
}

}  // namespace wasinn::check

// NOLINTBEGIN(cppcoreguidelines-macro-usage,bugprone-macro-parentheses): the words of GoogleTest
#define CHECK_OR_(before, condition, text) \
  if (condition) {                         \
  } else /* NOLINT */                      \
    before ::wasinn::check::Failure(__FILE__, __LINE__, text)
#define CHECK_TWO_(before, a, op, b)                                   \
  if (const auto& check_a = ::wasinn::check::Kept(a); check_a op(b)) { \
  } else /* NOLINT */                                                  \
    before ::wasinn::check::Failure(__FILE__, __LINE__, ::wasinn::check::Compared(#a " " #op " " #b, check_a, b))
#define CHECK_RETURN_ return ::wasinn::check::Nothing()&
#define EXPECT_TRUE(condition) CHECK_OR_(, (condition), "expected " #condition)
#define EXPECT_FALSE(condition) CHECK_OR_(, !(condition), "expected not " #condition)
#define ASSERT_TRUE(condition) CHECK_OR_(CHECK_RETURN_, (condition), "expected " #condition)
#define EXPECT_EQ(a, b) CHECK_TWO_(, a, ==, b)
#define EXPECT_NE(a, b) CHECK_TWO_(, a, !=, b)
#define EXPECT_LE(a, b) CHECK_TWO_(, a, <=, b)
#define ASSERT_EQ(a, b) CHECK_TWO_(CHECK_RETURN_, a, ==, b)
// NOLINTEND(cppcoreguidelines-macro-usage,bugprone-macro-parentheses)
