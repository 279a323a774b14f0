// wasi:nn, the component form of the standard: what wasinn/wit.h promises.
#pragma once

#include <wasinn/wit.h>

namespace wasinn::abi {

const wasinn_wit_functions& WitFunctions();

}  // namespace wasinn::abi
