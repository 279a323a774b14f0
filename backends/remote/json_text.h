// JSON as text.
#pragma once

#include <cstdint>
#include <string_view>

namespace wasinn::remote {

// The length of a text with JSON's escapes, and the end of what was written. The text is UTF-8.
uint64_t EscapedBytes(std::string_view text);
char* WriteEscaped(std::string_view text, char* to);

// An upper limit of the memory of this text's nlohmann::json, with a few copies of its texts.
uint64_t JsonMemory(std::string_view text);

}  // namespace wasinn::remote
