// Explains why WAMR does not load a module: WAMR's message names a place of the binary format, and no feature.
#pragma once

#include <string>
#include <string_view>

namespace wasinn::wamr {

// A feature that WAMR does not support; NULL: none was found. Call it before WAMR reads the bytes and changes them.
const char* FeatureBeyondWamr(std::string_view module);
// `error`: WAMR's own message, one line. Without a feature to name, the result is only that.
std::string RefusalOf(const char* feature, const std::string& error);

}  // namespace wasinn::wamr
