// Reads JSON of a stranger, front to back and in place: it allocates nothing but the names that are asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace wasinn::remote {

// Throws WASINN_ERROR_RUNTIME where the text is not JSON, or not what is read.
class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : text_(text) {}

  // The next character that is no blank; '\0': there is none.
  char Peek();
  // Whether it was the next one, which is then read.
  bool Take(char c);
  void Expect(char c);
  // That nothing more comes.
  void ExpectEnd();
  // Its escapes are resolved. Longer ones are refused.
  std::string String(size_t most);
  // As it stands there.
  std::string_view Number();
  // Of its own grammar; text like "12", too, as Protocol Buffers write it.
  int64_t Integer();
  bool Bool();
  // Any value, as it stands there.
  std::string_view Skip();

  // `use` reads the value of each key.
  template <typename Use>
  void Object(Use use) {
    Expect('{');
    if (Take('}')) return;
    do {
      const std::string key = String(kMostKey);
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
  static constexpr size_t kMostKey = 4096;

  bool TakeWord(std::string_view word);
  void TakeDigits();
  std::string_view SkipString();
  void AppendEscape(std::string* to);
  uint32_t CodeUnit();

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace wasinn::remote
