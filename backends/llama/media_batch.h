// A part of an image or a sound, in llama.cpp's form.
#pragma once

#include <cstdint>
#include <vector>

#include "llama/llama_library.h"
#include "llama/media_prompt.h"

namespace wasinn::llama {

// Used by one thread at a time.
class MediaBatch {
 public:
  explicit MediaBatch(const LlamaLibrary& library, const llama_model* model)
      : width_(static_cast<size_t>(library.model_n_embd_inp(model))) {}

  struct Part {
    size_t span = 0;     // index in the prompt
    size_t done = 0;     // tokens before the part
    size_t count = 0;    // tokens of the part
    llama_pos from = 0;  // position of the span's beginning
    llama_seq_id sequence = 0;
    bool is_last = false;  // of the prompt: its last token has logits
  };
  // For one call of llama.cpp. The prompt must be encoded.
  llama_batch Fill(const MediaPrompt& prompt, const Part& part);

 private:
  const size_t width_;
  std::vector<llama_pos> positions_;
  std::vector<int32_t> sequence_counts_;
  llama_seq_id sequence_ = 0;
  std::vector<llama_seq_id*> sequences_;
  std::vector<int8_t> logits_;
};

// While it lives, tokens of a context also see later ones, if `is_wanted`.
class NotCausal {
 public:
  NotCausal(const LlamaLibrary& library, llama_context* context, bool is_wanted)
      : library_(library), context_(is_wanted ? context : nullptr) {
    if (context_ != nullptr) library_.set_causal_attn(context_, false);
  }
  ~NotCausal() {
    if (context_ != nullptr) library_.set_causal_attn(context_, true);
  }
  NotCausal(const NotCausal&) = delete;
  NotCausal& operator=(const NotCausal&) = delete;

 private:
  const LlamaLibrary& library_;
  llama_context* const context_;
};

}  // namespace wasinn::llama
