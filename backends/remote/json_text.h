// JSON as text.
#pragma once

#include <cstdint>
#include <string_view>

namespace wasinn::remote {

// How many bytes a text has between the quotes of a string, and the end of where they were written. It is UTF-8.
uint64_t EscapedBytes(std::string_view text);
char* WriteEscaped(std::string_view text, char* to);

// No nlohmann::json of this text takes more memory, with a few copies of its texts.
uint64_t JsonMemory(std::string_view text);

}  // namespace wasinn::remote
