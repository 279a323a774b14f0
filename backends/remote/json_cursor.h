// Reads untrusted JSON front to back and in place: it allocates only the names that are requested.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace wasinn::remote {

// Throws WASINN_ERROR_RUNTIME if the text is not JSON, or has another type than expected.
class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : text_(text) {}

  // The next character that is not a space; '\0' at the end.
  char Peek();
  // Reads the next character if it is `c`; returns whether it was.
  bool Take(char c);
  void Expect(char c);
  // Requires the end of the text.
  void ExpectEnd();
  // Resolves escapes. Refuses longer strings.
  std::string String(size_t most);
  // As written in the text.
  std::string_view Number();
  // Also accepts a string like "12", which Protocol Buffers write.
  int64_t Integer();
  bool Bool();
  // Any value, as written in the text.
  std::string_view Skip();

  // `use` reads the value of each key.
  template <typename Use>
  void Object(Use use) {
    Expect('{');
    if (Take('}')) return;
    do {
      const std::string key = String(kMaxKey);
      Expect(':');
      use(key);
    } while (Take(','));
    Expect('}');
  }
  // `use` reads each element.
  template <typename Use>
  void Array(Use use) {
    Expect('[');
    if (Take(']')) return;
    do {
      use();
    } while (Take(','));
    Expect(']');
  }

  [[noreturn]] static void Refuse(const std::string& why);

 private:
  static constexpr size_t kMaxKey = 4096;

  bool TakeWord(std::string_view word);
  void TakeDigits();
  std::string_view SkipString();

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace wasinn::remote
