// SHA-256, the names of content in registries.
#pragma once

#include <string>
#include <string_view>

namespace wasinn::artifacts {

// "sha256:" and 64 lower-case hexadecimal digits, so never a path.
bool IsDigest(std::string_view text);

// The digits.
std::string_view HexOf(std::string_view digest);

std::string DigestOf(std::string_view bytes);

// The digest of an open file, from its beginning; "" if it cannot be read.
std::string DigestOfFile(int fd);

}  // namespace wasinn::artifacts
