// A whole file as bytes.
#pragma once

#include <cstdint>
#include <expected>
#include <string>

namespace wasinn::engines {

// The error is one line that names the path. A file of more bytes than `most` is one, and so is what has no end.
std::expected<std::string, std::string> ReadFile(const std::string& path, uint64_t most = UINT64_MAX);

}  // namespace wasinn::engines
