#include "bench/streams/native_text.h"

#include <dlfcn.h>
#include <llama.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace wasinn::bench {

struct NativeText::Llama {
  explicit Llama(const std::string& path) : library(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {  // never closed
    if (library == nullptr) throw std::runtime_error(dlerror());
  }

  template <typename Function>
  Function* Find(Function* /*its type*/, const char* name) const {
    void* const symbol = dlsym(library, name);
    if (symbol == nullptr) throw std::runtime_error(dlerror());
    return reinterpret_cast<Function*>(symbol);
  }

  void* const library;
  llama_model* model = nullptr;
  const llama_vocab* words = nullptr;
  llama_context* context = nullptr;
  llama_sampler* sampler = nullptr;
};

#define LLAMA(function) llama_->Find(&(function), #function)

// The host has opened the devices, and turned the log aside.
NativeText::NativeText(const std::string& library, const std::string& model) : llama_(new Llama(library)) {
  constexpr int32_t kMaxTokens = 4096;
  llama_model_params model_params = LLAMA(llama_model_default_params)();
  model_params.n_gpu_layers = 0;
  llama_->model = LLAMA(llama_model_load_from_file)(model.c_str(), model_params);
  if (llama_->model == nullptr) throw std::runtime_error("llama.cpp cannot load " + model);
  llama_->words = LLAMA(llama_model_get_vocab)(llama_->model);
  llama_context_params params = LLAMA(llama_context_default_params)();
  params.n_ctx = static_cast<uint32_t>(std::min(LLAMA(llama_model_n_ctx_train)(llama_->model), kMaxTokens));
  params.n_threads = params.n_threads_batch = 1;
  llama_->context = LLAMA(llama_init_from_model)(llama_->model, params);
  if (llama_->context == nullptr) throw std::runtime_error("llama.cpp makes no context");
  llama_->sampler = LLAMA(llama_sampler_init_greedy)();
}

NativeText::~NativeText() {
  LLAMA(llama_sampler_free)(llama_->sampler);
  LLAMA(llama_free)(llama_->context);
  LLAMA(llama_model_free)(llama_->model);
}

void NativeText::Generate(const std::string& prompt, int tokens, const std::function<void(const std::string&)>& add) {
  const auto decode = LLAMA(llama_decode);
  const auto sample = LLAMA(llama_sampler_sample);
  const auto is_end = LLAMA(llama_vocab_is_eog);
  const auto text_of = LLAMA(llama_token_to_piece);
  LLAMA(llama_memory_clear)(LLAMA(llama_get_memory)(llama_->context), false);
  std::vector<llama_token> held(prompt.size() + 8);
  held.resize(
      static_cast<size_t>(LLAMA(llama_tokenize)(llama_->words, prompt.data(), static_cast<int32_t>(prompt.size()),
                                                held.data(), static_cast<int32_t>(held.size()), true, true)));
  llama_batch batch = LLAMA(llama_batch_get_one)(held.data(), static_cast<int32_t>(held.size()));
  llama_token token = 0;
  for (int i = 0; i < tokens; ++i) {
    if (decode(llama_->context, batch) != 0) throw std::runtime_error("llama.cpp decodes nothing");
    token = sample(llama_->sampler, llama_->context, -1);
    if (is_end(llama_->words, token)) return;
    char text[256];
    const int32_t size = text_of(llama_->words, token, text, sizeof text, 0, false);
    add({text, static_cast<size_t>(std::max(size, 0))});
    batch.token = &token;
    batch.n_tokens = 1;
  }
}

}  // namespace wasinn::bench
