// Implements wasinn/wit.h: wasi:nn, the component form of the standard.
#pragma once

#include <wasinn/wit.h>

namespace wasinn::abi {

const wasinn_wit_functions& WitFunctions();

}  // namespace wasinn::abi
