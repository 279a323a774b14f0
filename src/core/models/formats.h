// Model formats, by name: what files' names and bytes tell of them.
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

// Those that wasi-nn has numbers for. A host knows them without any backend: it opens no library to tell such a model's
// format, and can say which backend is missing. All others come from backends' tables.
Formats StandardFormats();
// Those of a backend's table, as this version knows the struct. An error says what is wrong with one.
Result<std::vector<wasinn_format>> ReadFormats(const wasinn_backend& table);

// The name that a word stands for: in lower case, of two spellings the one, of "autodetect" "".
std::string FormatName(std::string_view word);

bool HasFormat(Formats formats, std::string_view name);
// Each once: "onnx, openvino".
std::string ListFormats(Formats formats);

// The format of a model whose first part has `size` bytes, which begin with `start`; "" if it is none of these. A magic
// goes before what is guessed. Never reads past the end; a recognised model may still be broken.
std::string FormatOfBytes(Formats formats, std::span<const uint8_t> start, uint64_t size);
// Whether bytes can be of a format: false if they are evidently another's, which is `found`.
bool MayBeOf(Formats formats, std::string_view name, std::span<const uint8_t> start, uint64_t size, std::string& found);
// The format that a file's name promises, "model.onnx", or "".
std::string FormatOfFileName(Formats formats, std::string_view name);

// The scheme of an address, in lower case: "grpc" of "grpc://host:8001/model"; "" if it is a path.
std::string SchemeOf(std::string_view path);
// The format whose models have addresses of this scheme. WASINN_ERROR_UNSUPPORTED_OPERATION, with those that there are.
Result<std::string> FormatOfScheme(Formats formats, std::string_view scheme);
// Whether a format's models are addresses, which only the host may name.
bool HasAddresses(Formats formats, std::string_view name);

}  // namespace wasinn::core
