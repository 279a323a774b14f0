#include "remote/json_elements.h"

#include <fmt/format.h>
#include <google/protobuf/stubs/common.h>

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <string>

#include "common/error.h"
#include "remote/json_cursor.h"
#include "remote/json_text.h"

namespace wasinn::remote {

using backend::Error;

namespace {

// Calls `use` with a value of the element type of `dtype`. Returns false if JSON has none.
template <typename Use>
bool WithType(uint32_t dtype, Use use) {
  switch (dtype) {
    case WASINN_DTYPE_BOOL:
      return use(bool{});
    case WASINN_DTYPE_I8:
      return use(int8_t{});
    case WASINN_DTYPE_I16:
      return use(int16_t{});
    case WASINN_DTYPE_I32:
      return use(int32_t{});
    case WASINN_DTYPE_I64:
      return use(int64_t{});
    case WASINN_DTYPE_U8:
      return use(uint8_t{});
    case WASINN_DTYPE_U16:
      return use(uint16_t{});
    case WASINN_DTYPE_U32:
      return use(uint32_t{});
    case WASINN_DTYPE_U64:
      return use(uint64_t{});
    case WASINN_DTYPE_F32:
      return use(float{});
    case WASINN_DTYPE_F64:
      return use(double{});
    default:
      return false;  // FP16 and BF16
  }
}

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

}  // namespace

bool DecodeJson(std::string_view json, uint32_t dtype, std::span<uint8_t> out) {
  return WithType(dtype, [&](auto type) { return Decoder<decltype(type)>(json, out).Decode(); });
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
  const bool has_type = WithType(input.port->io.dtype, [&](auto type) {
    using T = std::conditional_t<std::same_as<decltype(type), bool>, uint8_t, decltype(type)>;
    for (size_t i = 0; i < input.bytes / sizeof(T); ++i) WriteElement<T>(input, i, sink);
    return true;
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
