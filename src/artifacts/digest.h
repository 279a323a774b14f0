// SHA-256, by which registries name what they have.
#pragma once

#include <string>
#include <string_view>

namespace wasinn::artifacts {

// "sha256:" and 64 lower-case hexadecimal digits: nothing that is a path.
bool IsDigest(std::string_view text);

// The digits.
std::string_view HexOf(std::string_view digest);

std::string DigestOf(std::string_view bytes);

// Of an open file, from its beginning; "" where it cannot be read.
std::string DigestOfFile(int fd);

}  // namespace wasinn::artifacts
