// The questions of llama.cpp's chat code about a model.
#ifndef WASINN_LLAMA_STAND_INS_H_
#define WASINN_LLAMA_STAND_INS_H_

#include "wasinn_llama_common.h"

// llama.cpp's headers only declare this type, which its library defines. It is its own vocabulary.
struct llama_model {
  wasinn_llama_model about;
};

#endif  // WASINN_LLAMA_STAND_INS_H_
