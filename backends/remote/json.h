// The Open Inference Protocol's JSON: untrusted answers, which are read front to back and in place, and requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "remote/tensors.h"

namespace wasinn::remote {

// Allocates only the requested names. Throws WASINN_ERROR_RUNTIME if the text is not JSON, or has another type.
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

// Fills `out` with elements of `dtype` from an array, which may be nested. Returns false if the count or the types
// differ, or if JSON cannot express the type.
bool DecodeJson(std::string_view json, uint32_t dtype, std::span<uint8_t> out);

// The only text of an array. Returns false if there are none or several.
bool TextOfJson(std::string_view json, std::string* text);

// The length of a text with JSON's escapes, and the end of what was written. The text is UTF-8.
uint64_t EscapedBytes(std::string_view text);
char* WriteEscaped(std::string_view text, char* to);

// Writes to memory, or counts the bytes that it would write.
class JsonSink {
 public:
  JsonSink() = default;
  explicit JsonSink(std::span<uint8_t> memory) : memory_(memory), counts_(false) {}

  // Returns false without room.
  bool Append(const void* data, size_t bytes);
  bool Append(std::string_view text) { return Append(text.data(), text.size()); }
  uint64_t bytes() const { return bytes_; }

 private:
  std::span<uint8_t> memory_;
  bool counts_ = true;
  uint64_t bytes_ = 0;
};

// Writes an input as an array. Throws WASINN_ERROR_INVALID_ARGUMENT for values that JSON cannot express,
// WASINN_ERROR_UNSUPPORTED_OPERATION for such types, and WASINN_ERROR_RUNTIME without room: the input has changed.
void WriteJson(const Inputs::Input& input, JsonSink& sink);

// Servers' answers. All functions throw WASINN_ERROR_RUNTIME if the answer is invalid.

Metadata ReadJsonMetadata(std::string_view json);

// Whether the server has an extension of one of these names.
bool HasExtension(std::string_view json, std::span<const std::string_view> names);

// An answer of `head` bytes of JSON, followed by raw bytes. Tensors in JSON refer to it. At most `most` outputs.
std::vector<AnsweredTensor> ReadJsonAnswer(std::string_view answer, uint64_t head, size_t most);

}  // namespace wasinn::remote
