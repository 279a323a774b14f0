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

// The blob of a model that is one, of one format; `model`: "an ONNX model".
inline const wasinn_blob& OneBlob(std::span<const wasinn_blob> blobs, const wasinn_load_options& options,
                                  std::string_view format, std::string_view model) {
  if (blobs.size() != 1) {
    throw Error(WASINN_INVALID_ARGUMENT, fmt::format("{} is one blob: found {}", model, blobs.size()));
  }
  if (options.format == format) return blobs.front();
  throw Error(WASINN_INVALID_ENCODING, fmt::format("this backend loads {}s", model.substr(model.find(' ') + 1)));
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
  // A caller's blob, retained.
  explicit KeptBytes(const wasinn_blob& blob) : blob_(blob), bytes_(blob.data, blob.size) {
    if (blob_.retain != nullptr) blob_.retain(blob_.owner);
  }
  KeptBytes(AlignedBuffer buffer, size_t size)
      : buffer_(std::move(buffer)), bytes_(static_cast<const uint8_t*>(buffer_.data()), size) {}
  KeptBytes(KeptBytes&& other) noexcept { *this = std::move(other); }
  KeptBytes& operator=(KeptBytes&& other) noexcept {
    std::swap(blob_, other.blob_);
    std::swap(buffer_, other.buffer_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~KeptBytes() {
    if (blob_.release != nullptr) blob_.release(blob_.owner);
  }

  std::span<const uint8_t> get() const { return bytes_; }

 private:
  wasinn_blob blob_ = {};
  AlignedBuffer buffer_;
  std::span<const uint8_t> bytes_;
};

}  // namespace wasinn::backend
