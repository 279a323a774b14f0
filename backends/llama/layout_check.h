// Whether a library has the structs that this backend was built for.
#pragma once

#include <llama.h>

#include <string>

namespace wasinn::llama {

class LlamaLibrary;

// llama.cpp hands its structs over by value, and they change from one version to the next without a number that says
// so: of another layout, a call would write past the end of ours, or take one field for another. So what the library
// fills in as defaults is held against the size and the values that the header has. Throws WASINN_ERROR_UNSUPPORTED_OPERATION
// that names the field.
void CheckLayouts(const LlamaLibrary& library);

}  // namespace wasinn::llama
