// Why WAMR does not load a module, in words: it names a place of the binary format, and no feature.
#pragma once

#include <string>
#include <string_view>

namespace wasinn::wamr {

// A feature of a module that WAMR does not run; NULL: none is seen. Before WAMR reads the bytes, for it changes them.
const char* FeatureBeyondWamr(std::string_view module);
// `error`: WAMR's own, of one line. Without a feature to blame that is all.
std::string RefusalOf(const char* feature, const std::string& error);

}  // namespace wasinn::wamr
