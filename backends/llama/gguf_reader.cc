#include "llama/gguf_reader.h"

#include <fmt/format.h>

#include <cstring>

#include "common/error.h"

namespace wasinn::llama {

using backend::Error;

namespace {

template <typename... Args>
[[noreturn]] void RefuseGguf(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(WASINN_ERROR_INVALID_ENCODING, "no GGUF model: " + fmt::format(format, std::forward<Args>(args)...));
}

// The bytes of one element; 0: variable.
uint64_t ElementSize(GgufType type) {
  switch (type) {
    case GgufType::kU8:
    case GgufType::kI8:
    case GgufType::kBool:
      return 1;
    case GgufType::kU16:
    case GgufType::kI16:
      return 2;
    case GgufType::kU32:
    case GgufType::kI32:
    case GgufType::kF32:
      return 4;
    case GgufType::kU64:
    case GgufType::kI64:
    case GgufType::kF64:
      return 8;
    case GgufType::kString:
    case GgufType::kArray:
      break;
  }
  return 0;
}

template <typename T>
T LoadAs(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

// Reads front to back, never past the end.
class GgufCursor {
 public:
  explicit GgufCursor(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  uint64_t at() const { return at_; }
  uint64_t left() const { return bytes_.size() - at_; }

  std::span<const uint8_t> Take(uint64_t n, const char* what) {
    if (n > left()) RefuseGguf("{} of {} bytes at offset {}: the file ends {} bytes later", what, n, at_, left());
    const auto taken = bytes_.subspan(at_, n);
    at_ += n;
    return taken;
  }
  template <typename T>
  T Number(const char* what) {
    return LoadAs<T>(Take(sizeof(T), what).data());
  }
  std::string_view String(const char* what) {
    const auto taken = Take(Number<uint64_t>(what), what);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }
  // llama.cpp would cut the name at a byte 0.
  std::string_view Name(const char* what) {
    const std::string_view name = String(what);
    if (name.find('\0') != name.npos) RefuseGguf("{} has a byte 0, before offset {}", what, at_);
    return name;
  }

 private:
  std::span<const uint8_t> bytes_;
  uint64_t at_ = 0;
};

GgufType ReadType(GgufCursor* cursor, std::string_view key) {
  const auto type = cursor->Number<uint32_t>("the type of a value");
  if (type > static_cast<uint32_t>(GgufType::kF64)) RefuseGguf("{}: type {} is unknown", key, type);
  return static_cast<GgufType>(type);
}

GgufValue ReadValue(GgufCursor* cursor, std::span<const uint8_t> file, std::string_view key) {
  GgufValue value = {.type = ReadType(cursor, key)};
  if (value.type == GgufType::kArray) {
    value.is_array = true;
    value.type = ReadType(cursor, key);
    value.count = cursor->Number<uint64_t>("the length of an array");
    if (value.type == GgufType::kArray) RefuseGguf("{}: an array of arrays", key);
  }
  const uint64_t size = ElementSize(value.type);
  // Also keeps the product below from overflowing.
  if (value.count > cursor->left())
    RefuseGguf("{}: {} elements: the file has {} more bytes", key, value.count, cursor->left());
  const uint64_t start = cursor->at();
  if (size == 0) {
    for (uint64_t i = 0; i < value.count; ++i) cursor->String("a string");
  } else {
    cursor->Take(size * value.count, "a value");
  }
  value.bytes = file.subspan(start, cursor->at() - start);
  return value;
}

GgufTensor ReadTensor(GgufCursor* cursor) {
  GgufTensor tensor;
  tensor.name = cursor->Name("the name of a tensor");
  const auto n_dims = cursor->Number<uint32_t>("the rank of a tensor");
  if (n_dims > 4) RefuseGguf("tensor '{}' has {} dimensions: expected up to 4", tensor.name, n_dims);
  for (uint32_t d = 0; d < n_dims; ++d) tensor.dims[d] = cursor->Number<uint64_t>("a dimension");
  tensor.type = cursor->Number<uint32_t>("the type of a tensor");
  cursor->Take(sizeof(uint64_t), "the offset of a tensor");
  return tensor;
}

}  // namespace

std::optional<int64_t> GgufValue::Integer() const {
  if (is_array) return std::nullopt;
  switch (type) {
    case GgufType::kU8:
      return bytes[0];
    case GgufType::kI8:
      return static_cast<int8_t>(bytes[0]);
    case GgufType::kU16:
      return LoadAs<uint16_t>(bytes.data());
    case GgufType::kI16:
      return LoadAs<int16_t>(bytes.data());
    case GgufType::kU32:
      return LoadAs<uint32_t>(bytes.data());
    case GgufType::kI32:
      return LoadAs<int32_t>(bytes.data());
    case GgufType::kI64:
      return LoadAs<int64_t>(bytes.data());
    case GgufType::kU64: {
      const auto value = LoadAs<uint64_t>(bytes.data());
      if (value > INT64_MAX) return std::nullopt;
      return static_cast<int64_t>(value);
    }
    default:
      return std::nullopt;
  }
}

std::optional<bool> GgufValue::Bool() const {
  if (is_array || type != GgufType::kBool) return std::nullopt;
  return bytes[0] != 0;
}

std::optional<std::string_view> GgufValue::String() const {
  if (is_array || type != GgufType::kString) return std::nullopt;
  return GgufCursor(bytes).String("a string");
}

void GgufValue::ForEachString(const std::function<void(std::string_view)>& visit) const {
  if (type != GgufType::kString) return;
  GgufCursor cursor(bytes);
  for (uint64_t i = 0; i < count; ++i) visit(cursor.String("a string"));
}

std::optional<int64_t> GgufValue::IntegerAt(uint64_t index) const {
  if (!is_array || index >= count) return std::nullopt;
  const uint8_t* at = bytes.data() + 4 * index;
  if (type == GgufType::kU32) return LoadAs<uint32_t>(at);
  if (type == GgufType::kI32) return LoadAs<int32_t>(at);
  return std::nullopt;
}

GgufFile::GgufFile(std::span<const uint8_t> bytes) {
  GgufCursor cursor(bytes);
  constexpr char kMagic[] = {'G', 'G', 'U', 'F'};
  if (bytes.size() < 4 || std::memcmp(bytes.data(), kMagic, 4) != 0)
    RefuseGguf("its {} bytes do not begin with GGUF", bytes.size());
  cursor.Take(4, "the magic");
  const auto version = cursor.Number<uint32_t>("the version");
  // The version of a file with another byte order is a large number.
  const bool is_newer = version > 3 && version <= UINT16_MAX;
  if (version != 2 && version != 3) {
    RefuseGguf("version {}: expected 2 or 3{}", version,
               is_newer ? ": the file is newer than this wasinn: use a newer one, or convert the model again with an "
                          "older llama.cpp (convert_hf_to_gguf.py)"
                        : "");
  }
  const auto n_tensors = cursor.Number<uint64_t>("the number of tensors");
  const auto n_values = cursor.Number<uint64_t>("the number of values");
  for (uint64_t i = 0; i < n_values; ++i) {
    const std::string_view key = cursor.Name("a key");
    values_.emplace(key, ReadValue(&cursor, bytes, key));
  }
  for (uint64_t i = 0; i < n_tensors; ++i) tensors_.push_back(ReadTensor(&cursor));
}

const GgufValue* GgufFile::Find(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

}  // namespace wasinn::llama
