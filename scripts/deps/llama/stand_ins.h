// What llama.cpp's chat code asks of a model.
#ifndef WASINN_LLAMA_STAND_INS_H_
#define WASINN_LLAMA_STAND_INS_H_

#include "wasinn_llama_common.h"

// For llama.cpp's headers it is a type of which only its library knows more. It has no other vocabulary than itself.
struct llama_model {
  wasinn_llama_model about;
};

#endif  // WASINN_LLAMA_STAND_INS_H_
