// Expectations in GoogleTest's form, for checks that a command runs, too. Failures are reported to the program that
// runs them, with the text that follows: authors of backends do not know the names of variables here, so each
// expectation needs a text. The installed command must not need GoogleTest, which only has one program's tests and
// prints them itself. Do not include both.
#pragma once

#include <ostream>
#include <ranges>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>

#include "check/failures.h"

namespace wasinn::check {

// The useful part of a value, for a message.
template <typename T>
void Show(std::ostream& out, const T& value) {
  constexpr size_t kMax = 16;
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    const std::string_view text(value);
    out << '"';
    for (const char c : text.substr(0, kMax * 4)) out << (c >= ' ' && c <= '~' ? c : '?');
    out << (text.size() > kMax * 4 ? "…\"" : "\"");
  } else if constexpr (std::ranges::range<T>) {
    out << '[';
    size_t n = 0;
    for (const auto& element : value) {
      if (n == kMax) break;
      if (n++ > 0) out << ", ";
      Show(out, element);
    }
    out << (std::ranges::size(value) > kMax ? ", …]" : "]");
  } else if constexpr (std::is_same_v<T, wasinn_code>) {
    out << CodeName(value);
  } else if constexpr (requires { out << value; }) {
    out << value;
  } else {
    out << "an object";
  }
}

// A failed expectation and its text; reported at the end of the statement.
class Failure {
 public:
  // `found` follows the text; "" if nothing is compared.
  Failure(const char* file, int line, std::string found) : file_(file), line_(line), found_(std::move(found)) {}
  ~Failure() { ReportFailure(file_, line_, text_.str() + (found_.empty() ? "" : ": ") + found_); }
  Failure(const Failure&) = delete;
  Failure& operator=(const Failure&) = delete;
  template <typename T>
  const Failure& operator<<(const T& value) const {
    text_ << value;
    return *this;
  }

 private:
  const char* const file_;
  const int line_;
  const std::string found_;
  mutable std::ostringstream text_;
};
struct Nothing {
  void operator&(const Failure&) const {}  // so that `return` has a void expression
};

// A copy: a value may be a part of a temporary of its expression.
template <typename T>
T Kept(const T& value) {
  return value;
}

template <typename A, typename B>
std::string Compared(const A& found, const B& expected) {
  std::ostringstream text;
  text << std::boolalpha << "found ";
  Show(text, found);
  text << ", expected ";
  Show(text, expected);
  return text.str();
}

}  // namespace wasinn::check

// NOLINTBEGIN(cppcoreguidelines-macro-usage,bugprone-macro-parentheses): the words of GoogleTest
#define CHECK_OR_(before, condition, text) \
  if (condition) {                         \
  } else /* NOLINT */                      \
    before ::wasinn::check::Failure(__FILE__, __LINE__, text)
#define CHECK_EQUAL_(before, a, b)                                      \
  if (const auto& check_a = ::wasinn::check::Kept(a); check_a == (b)) { \
  } else /* NOLINT */                                                   \
    before ::wasinn::check::Failure(__FILE__, __LINE__, ::wasinn::check::Compared(check_a, b))
#define CHECK_RETURN_ return ::wasinn::check::Nothing()&
#define EXPECT_TRUE(condition) CHECK_OR_(, (condition), "")
#define EXPECT_FALSE(condition) CHECK_OR_(, !(condition), "")
#define ASSERT_TRUE(condition) CHECK_OR_(CHECK_RETURN_, (condition), "")
#define EXPECT_EQ(a, b) CHECK_EQUAL_(, a, b)
#define ASSERT_EQ(a, b) CHECK_EQUAL_(CHECK_RETURN_, a, b)
// NOLINTEND(cppcoreguidelines-macro-usage,bugprone-macro-parentheses)
