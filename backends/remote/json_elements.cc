#include "remote/json.h"

#include <fmt/format.h>
#include <google/protobuf/stubs/common.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>

#include "common/error.h"
#include "oip/datatype.h"

namespace wasinn::remote {

using backend::Error;

namespace {

// Parses the exact type, so that nothing is rounded twice.
template <typename T>
bool Parse(std::string_view number, T* value) {
  const auto [at, error] = std::from_chars(number.data(), number.data() + number.size(), *value);
  if constexpr (std::same_as<T, float>) {
    double wider = 0;  // a number that is too small for a float becomes 0
    if (error == std::errc::result_out_of_range && Parse(number, &wider) &&
        std::abs(wider) < double{std::numeric_limits<float>::min()}) {
      *value = static_cast<float>(wider);
      return true;
    }
  }
  return error == std::errc() && at == number.data() + number.size();
}

template <typename T>
class Decoder {
 public:
  Decoder(std::string_view json, std::span<uint8_t> out) : cursor_(json), rest_(out) {}

  bool Decode() {
    if (cursor_.Peek() != '[' || !Value(0)) return false;
    cursor_.ExpectEnd();
    return rest_.empty();
  }

 private:
  bool Value(int depth) {
    if (cursor_.Peek() != '[') return Element();
    bool is_good = depth <= WASINN_MAX_RANK;
    if (!is_good) return false;
    cursor_.Array([&] { is_good = is_good && Value(depth + 1); });
    return is_good;
  }
  bool Element() {
    if (rest_.size() < sizeof(T)) JsonCursor::Refuse("more elements than the shape says");
    T value = {};
    if constexpr (std::same_as<T, bool>) {
      value = cursor_.Bool();
    } else if (!Parse(cursor_.Number(), &value)) {
      JsonCursor::Refuse("a number that is out of its type's range");
    }
    std::memcpy(rest_.data(), &value, sizeof value);
    rest_ = rest_.subspan(sizeof value);
    return true;
  }

  JsonCursor cursor_;
  std::span<uint8_t> rest_;
};

template <typename T>
void WriteElement(const Inputs::Input& input, size_t index, JsonSink& sink) {
  T value = {};
  std::memcpy(&value, static_cast<const uint8_t*>(input.data) + index * sizeof value, sizeof value);
  char text[32];
  std::string_view written;
  if constexpr (std::same_as<T, uint8_t>) {
    if (input.port->io.dtype == WASINN_DTYPE_BOOL) written = value != 0 ? "true" : "false";
  }
  if constexpr (std::floating_point<T>) {
    if (!std::isfinite(value)) {
      throw Error(
          WASINN_ERROR_INVALID_ARGUMENT,
          fmt::format("input '{}': the server takes numbers as JSON, which has no {}", input.port->name, value));
    }
  }
  if (written.empty()) written = {text, std::to_chars(text, std::end(text), value).ptr};
  const bool has_room = (index == 0 || sink.Append(",")) && sink.Append(written);
  if (!has_room)
    throw Error(WASINN_ERROR_RUNTIME, fmt::format("input '{}' changed while it was sent", input.port->name));
}

void WriteText(const Inputs::Input& input, JsonSink& sink) {
  const std::string text(static_cast<const char*>(input.data), input.bytes);  // a copy, because guest memory may change
  if (!google::protobuf::internal::IsStructurallyValidUTF8(text.data(), static_cast<int>(text.size()))) {
    throw Error(WASINN_ERROR_INVALID_ARGUMENT,
                fmt::format("input '{}': the server takes texts as JSON, which are UTF-8", input.port->name));
  }
  std::string escaped(EscapedBytes(text), '\0');
  WriteEscaped(text, escaped.data());
  if (!sink.Append("[\"") || !sink.Append(escaped) || !sink.Append("\"]")) {
    throw Error(WASINN_ERROR_RUNTIME, fmt::format("input '{}' changed while it was sent", input.port->name));
  }
}

constexpr bool IsPlain(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\'; }

// The letter after the backslash; 0: an escape with its number.
constexpr char ShortOf(char c) {
  switch (c) {
    case '"':
    case '\\':
      return c;
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    default:
      return 0;
  }
}

constexpr size_t kNumbered = 6;  // \u001f

}  // namespace

bool DecodeJson(std::string_view json, uint32_t dtype, std::span<uint8_t> out) {
  bool is_good = false;
  (void)oip::WithElementType(static_cast<wasinn_dtype>(dtype),
                             [&]<typename T>(T /*type*/) { is_good = Decoder<T>(json, out).Decode(); });
  return is_good;
}

bool TextOfJson(std::string_view json, std::string* text) {
  JsonCursor cursor(json);
  int depth = 0;
  while (depth <= WASINN_MAX_RANK && cursor.Take('[')) ++depth;
  if (depth == 0 || cursor.Peek() != '"') return false;
  *text = cursor.String(json.size());
  while (depth > 0 && cursor.Take(']')) --depth;
  if (depth != 0) return false;
  cursor.ExpectEnd();
  return true;
}

uint64_t EscapedBytes(std::string_view text) {
  uint64_t bytes = text.size();
  for (const char c : text) {
    if (!IsPlain(c)) bytes += ShortOf(c) != 0 ? 1 : kNumbered - 1;
  }
  return bytes;
}

char* WriteEscaped(std::string_view text, char* to) {
  constexpr char kDigits[] = "0123456789abcdef";
  while (!text.empty()) {
    const auto plain = static_cast<size_t>(std::ranges::find_if_not(text, IsPlain) - text.begin());
    std::memcpy(to, text.data(), plain);
    to += plain;
    text.remove_prefix(plain);
    if (text.empty()) break;
    const char c = text.front();
    text.remove_prefix(1);
    *to++ = '\\';
    if (const char known = ShortOf(c); known != 0) {
      *to++ = known;
      continue;
    }
    const char numbered[] = {'u', '0', '0', kDigits[c >> 4], kDigits[c & 15]};
    to = std::ranges::copy(numbered, to).out;
  }
  return to;
}

bool JsonSink::Append(const void* data, size_t bytes) {
  bytes_ += bytes;
  if (counts_) return true;
  if (bytes > memory_.size()) return false;
  if (bytes > 0) std::memcpy(memory_.data(), data, bytes);
  memory_ = memory_.subspan(bytes);
  return true;
}

void WriteJson(const Inputs::Input& input, JsonSink& sink) {
  if (input.port->is_text) return WriteText(input, sink);
  const bool has_room = sink.Append("[");
  const bool has_type =
      oip::WithElementType(static_cast<wasinn_dtype>(input.port->io.dtype), [&]<typename Type>(Type /*type*/) {
        using T = std::conditional_t<std::same_as<Type, bool>, uint8_t, Type>;
        for (size_t i = 0; i < input.bytes / sizeof(T); ++i) WriteElement<T>(input, i, sink);
      });
  if (!has_type) {
    throw Error(WASINN_ERROR_UNSUPPORTED_OPERATION,
                fmt::format("input '{}': the server takes numbers as JSON, which has no {}", input.port->name,
                            input.port->type_name));
  }
  if (!has_room || !sink.Append("]")) {
    throw Error(WASINN_ERROR_RUNTIME, fmt::format("input '{}' changed while it was sent", input.port->name));
  }
}

}  // namespace wasinn::remote
