// The split of a model across several GPUs.
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
  std::vector<float> shares;  // for each GPU; empty: llama.cpp decides
  std::string keys;           // the configured keys, for messages

  // Throws WASINN_ERROR_INVALID_ARGUMENT.
  static GpuSplit Parse(const backend::Config& host);

  // `params` will point to these shares. Throws WASINN_ERROR_INVALID_ARGUMENT if there are fewer GPUs.
  void Fill(const LlamaLibrary& library, llama_model_params* params);
};

}  // namespace wasinn::llama
