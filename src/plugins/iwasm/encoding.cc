#include "plugins/iwasm/encoding.h"

#ifndef WASINN_IWASM_ENCODING
#define WASINN_IWASM_ENCODING nullptr
#endif

namespace wasinn::iwasm {

const char* const kEncoding = WASINN_IWASM_ENCODING;

}  // namespace wasinn::iwasm
