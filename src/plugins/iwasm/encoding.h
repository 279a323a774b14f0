// The difference between the native libraries of iwasm.
#pragma once

namespace wasinn::iwasm {

// The name of the only encoding that guests may load; NULL: all. Defined in encoding.cc, once for each library.
extern const char* const kEncoding;

}  // namespace wasinn::iwasm
