// A whole file as bytes.
#pragma once

#include <expected>
#include <string>

namespace wasinn::engines {

// The error is one line that names the path.
std::expected<std::string, std::string> ReadFile(const std::string& path);

}  // namespace wasinn::engines
