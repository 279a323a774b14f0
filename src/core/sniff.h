// Recognises model formats from bytes.
#pragma once

#include <wasinn/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace wasinn::core {

// The format of a model whose first part has these bytes; nothing if it is none that we know. Reads only the outermost
// structure, and never past the end; a recognised model may still be broken.
std::optional<wasinn_encoding> SniffEncoding(std::span<const uint8_t> bytes);
// The same from the beginning of a part of `size` bytes.
std::optional<wasinn_encoding> SniffStart(std::span<const uint8_t> start, uint64_t size);

// The format that a file's name promises: "model.onnx".
std::optional<wasinn_encoding> EncodingOfFileName(std::string_view name);

}  // namespace wasinn::core
