// The bytes of a model that is loaded.
#pragma once

#include <wasinn/backend.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "common/aligned_buffer.h"
#include "common/throw.h"

namespace wasinn::backend {

// The builder of a model with only one, of one format; `model`: "an ONNX model".
inline const wasinn_builder& OneBuilder(std::span<const wasinn_builder> builders, const wasinn_load_options& options,
                                        std::string_view format, std::string_view model) {
  if (builders.size() != 1) Throw(WASINN_ERROR_INVALID_ARGUMENT, "{} is one builder: found {}", model, builders.size());
  if (options.format == format) return builders.front();
  Throw(WASINN_ERROR_INVALID_ENCODING, "this backend loads {}s", model.substr(model.find(' ') + 1));
}

// The folder of a model's file, as a whole path.
inline std::string FolderOf(const std::filesystem::path& file) {
  std::error_code failed;
  const auto absolute = std::filesystem::absolute(file, failed);
  return (failed ? file : absolute).parent_path().string();
}

// Bytes that a framework still reads after the load.
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

// `words`: the framework's message, with the file's version and, if it is known, the highest supported one. `instead`:
// advice, such as "export the model again with an older opset".
inline std::string TooNew(std::string words, std::string_view framework, std::string_view version,
                          std::string_view instead) {
  words.append(": the model is newer than ").append(framework).append(" ").append(version);
  return words.append(": use a newer one, or ").append(instead);
}

}  // namespace wasinn::backend
