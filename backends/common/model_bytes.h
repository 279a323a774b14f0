// What a model is loaded from.
#pragma once

#include <fmt/format.h>
#include <wasinn/backend.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "common/aligned_buffer.h"
#include "common/error.h"

namespace wasinn::backend {

// The builder of a model that is one, of one format; `model`: "an ONNX model".
inline const wasinn_builder& OneBuilder(std::span<const wasinn_builder> builders, const wasinn_load_options& options,
                                        std::string_view format, std::string_view model) {
  if (builders.size() != 1) {
    throw Error(WASINN_ERROR_INVALID_ARGUMENT, fmt::format("{} is one builder: found {}", model, builders.size()));
  }
  if (options.format == format) return builders.front();
  throw Error(WASINN_ERROR_INVALID_ENCODING, fmt::format("this backend loads {}s", model.substr(model.find(' ') + 1)));
}

// Of a model's file, as a whole path.
inline std::string FolderOf(const std::filesystem::path& file) {
  std::error_code failed;
  const auto absolute = std::filesystem::absolute(file, failed);
  return (failed ? file : absolute).parent_path().string();
}

// Bytes that a framework goes on reading after the load.
class KeptBytes {
 public:
  KeptBytes() = default;
  // A caller's builder, retained.
  explicit KeptBytes(const wasinn_builder& builder) : builder_(builder), bytes_(builder.data, builder.size) {
    if (builder_.retain != nullptr) builder_.retain(builder_.owner);
  }
  KeptBytes(AlignedBuffer buffer, size_t size)
      : buffer_(std::move(buffer)), bytes_(static_cast<const uint8_t*>(buffer_.data()), size) {}
  KeptBytes(KeptBytes&& other) noexcept { *this = std::move(other); }
  KeptBytes& operator=(KeptBytes&& other) noexcept {
    std::swap(builder_, other.builder_);
    std::swap(buffer_, other.buffer_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~KeptBytes() {
    if (builder_.release != nullptr) builder_.release(builder_.owner);
  }

  std::span<const uint8_t> get() const { return bytes_; }

 private:
  wasinn_builder builder_ = {};
  AlignedBuffer buffer_;
  std::span<const uint8_t> bytes_;
};

}  // namespace wasinn::backend
