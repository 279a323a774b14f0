// What the native libraries of iwasm differ in.
#pragma once

namespace wasinn::iwasm {

// The name of the only encoding that guests may load; null: of all. Defined in encoding.cc, once for each library.
extern const char* const kEncoding;

}  // namespace wasinn::iwasm
