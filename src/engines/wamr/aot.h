// Reads the features of code from WAMR's compiler.
#pragma once

#include <string_view>

namespace wasinn::wamr {

// Whether the code checks during computing if its guest should end: code for threads (`wamrc --enable-multi-thread`)
// does. `aot` is a file that WAMR has loaded.
bool LooksForItsEnd(std::string_view aot);

}  // namespace wasinn::wamr
