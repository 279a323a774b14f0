// How a model lies on several GPUs.
#pragma once

#include <llama.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/config.h"

namespace wasinn::llama {

class LlamaLibrary;

// The names and defaults are llama.cpp's.
struct GpuSplit {
  llama_split_mode mode = LLAMA_SPLIT_MODE_LAYER;
  int32_t main = 0;
  std::vector<float> shares;  // of each GPU; empty: as llama.cpp thinks fit
  std::string keys;           // that were there, for a message

  // Throws WASINN_ERROR_INVALID_ARGUMENT.
  static GpuSplit Parse(const backend::Config& host);

  // `params` point to these shares. Throws WASINN_ERROR_INVALID_ARGUMENT where there are not so many GPUs.
  void Fill(const LlamaLibrary& library, llama_model_params* params);
};

}  // namespace wasinn::llama
