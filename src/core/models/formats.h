// Model formats: recognises them by the names and bytes of files.
#pragma once

#include <wasinn/backend.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"

namespace wasinn::core {

using Formats = std::span<const wasinn_format>;

// The formats that wasi-nn has numbers for. A host knows them without any backend: it opens no library to recognise
// such a model, and can name a missing backend. All others come from backends' tables.
Formats StandardFormats();
// The formats of a backend's table, as this version knows the struct. An error describes an invalid one.
Result<std::vector<wasinn_format>> ReadFormats(const wasinn_backend& table);

// The name for a word: lower case, one spelling of two, and "" for "autodetect".
std::string FormatName(std::string_view word);

bool HasFormat(Formats formats, std::string_view name);
// Each name once: "onnx, openvino".
std::string ListFormats(Formats formats);

// The format of a model whose first part has `size` bytes, which begin with `start`; "" if unknown. A magic has
// precedence over a guess. Never reads past the end; a recognised model may still be broken.
std::string FormatOfBytes(Formats formats, std::span<const uint8_t> start, uint64_t size);
// Whether bytes can have a format: false if they clearly have another one, which is `found`.
bool MayBeOf(Formats formats, std::string_view name, std::span<const uint8_t> start, uint64_t size, std::string& found);
// The format that a file's name stands for, "model.onnx", or "".
std::string FormatOfFileName(Formats formats, std::string_view name);

// The kind of bytes that no backend loads, though they look like a model, and what to bring instead; "": unknown.
std::string_view KindOfNoModel(std::span<const uint8_t> start);

// The scheme of an address, in lower case: "grpc" for "grpc://host:8001/model"; "" for a path.
std::string SchemeOf(std::string_view path);
// The format whose models have addresses of this scheme. WASINN_ERROR_UNSUPPORTED_OPERATION lists the known schemes.
Result<std::string> FormatOfScheme(Formats formats, std::string_view scheme);
// Whether a format's models are addresses, which only the host may use.
bool HasAddresses(Formats formats, std::string_view name);

}  // namespace wasinn::core
