// A whole file as bytes.
#pragma once

#include <cstdint>
#include <expected>
#include <string>

namespace wasinn::engines {

// The error is one line that names the path. A file of more than `most` bytes, or without an end, is an error.
std::expected<std::string, std::string> ReadFile(const std::string& path, uint64_t most = UINT64_MAX);

}  // namespace wasinn::engines
