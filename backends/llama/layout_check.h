// Checks that a library's structs are those that this backend was built for.
#pragma once

#include <llama.h>

#include <string>

namespace wasinn::llama {

class LlamaLibrary;

// llama.cpp passes structs by value, and changes them between versions without a version number: with another layout, a
// call would write past the end of the struct, or mix up fields. So this compares the library's default values, and
// their size, with the header's. Throws WASINN_ERROR_UNSUPPORTED_OPERATION that names the field.
void CheckLayouts(const LlamaLibrary& library);

}  // namespace wasinn::llama
