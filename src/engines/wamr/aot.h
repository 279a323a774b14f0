// What code that WAMR's compiler made says of itself.
#pragma once

#include <string_view>

namespace wasinn::wamr {

// Whether it looks, while it computes, if its guest shall end: code for threads (`wamrc --enable-multi-thread`) does.
// `aot` is a file that WAMR has loaded.
bool LooksForItsEnd(std::string_view aot);

}  // namespace wasinn::wamr
