#include "backends/llama_native.h"

#include <dlfcn.h>
#include <ggml-backend.h>
#include <llama.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <stdexcept>

#include "backends/native_place.h"

namespace wasinn::test {

namespace {

const std::string& LibraryPath() {
  static const std::string path = NativeLibrary("llama");
  return path;
}

template <typename Function>
Function LlamaSymbol(const char* name) {
  static void* const handle = dlopen(LibraryPath().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw std::runtime_error(dlerror());
  void* symbol = dlsym(handle, name);
  if (symbol == nullptr) throw std::runtime_error(name);
  return reinterpret_cast<Function>(symbol);
}
#define LLAMA(function)                                                       \
  ([] {                                                                       \
    static const auto symbol = LlamaSymbol<decltype(&(function))>(#function); \
    return symbol;                                                            \
  }())

void Quiet(ggml_log_level /*level*/, const char* /*text*/, void* /*user*/) {}

}  // namespace

double Now() {
  static const bool cpu = getenv("WASINN_BENCH_CPU") != nullptr;
  timespec now = {};
  clock_gettime(cpu ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct NativeLlama::Api {
  llama_model* model = nullptr;
  const llama_vocab* vocabulary = nullptr;
};

NativeLlama::NativeLlama(const std::string& path) : api_(std::make_unique<Api>()) {
  if (LLAMA(ggml_backend_dev_count)() == 0) {
    LLAMA(llama_log_set)(Quiet, nullptr);
    LLAMA(llama_backend_init)();
    LLAMA(ggml_backend_load_all_from_path)(std::filesystem::path(LibraryPath()).parent_path().c_str());
  }
  llama_model_params params = LLAMA(llama_model_default_params)();
  if (!NativeOnGpu()) {
    params.n_gpu_layers = 0;
  } else if (LLAMA(ggml_backend_dev_by_type)(GGML_BACKEND_DEVICE_TYPE_GPU) == nullptr) {
    throw std::runtime_error("llama.cpp finds no GPU");
  }
  api_->model = LLAMA(llama_model_load_from_file)(path.c_str(), params);
  if (api_->model == nullptr) throw std::runtime_error("llama.cpp cannot load " + path);
  api_->vocabulary = LLAMA(llama_model_get_vocab)(api_->model);
}

NativeLlama::~NativeLlama() { LLAMA(llama_model_free)(api_->model); }

std::vector<int32_t> NativeLlama::Tokenize(const std::string& text) const {
  std::vector<int32_t> tokens(text.size() + 8);
  const int32_t n = LLAMA(llama_tokenize)(api_->vocabulary, text.data(), static_cast<int32_t>(text.size()),
                                          tokens.data(), static_cast<int32_t>(tokens.size()), true, true);
  tokens.resize(static_cast<size_t>(n));
  return tokens;
}

// In the order of llama.cpp's own programs.
void NativeLlama::AddSamplers(const NativeSettings& settings, const std::function<void(llama_sampler*)>& add) const {
  const int32_t size = LLAMA(llama_vocab_n_tokens)(api_->vocabulary);
  std::vector<llama_logit_bias> biases;
  for (const auto& [token, bias] : settings.logit_bias) biases.push_back({token, bias});
  if (!biases.empty()) {
    add(LLAMA(llama_sampler_init_logit_bias)(size, static_cast<int32_t>(biases.size()), biases.data()));
  }
  if (settings.mirostat > 0) {
    add(LLAMA(llama_sampler_init_temp)(settings.temperature));
    return add(settings.mirostat == 1 ? LLAMA(llama_sampler_init_mirostat)(size, settings.seed, 5, 0.1F, 100)
                                      : LLAMA(llama_sampler_init_mirostat_v2)(settings.seed, 5, 0.1F));
  }
  add(LLAMA(llama_sampler_init_penalties)(size, settings.repeat_tokens, settings.repeat_penalty,
                                          settings.frequency_penalty, settings.presence_penalty));
  if (settings.dry_multiplier > 0) {
    std::vector<const char*> breakers = {"\n", ":", "\"", "*"};
    add(LLAMA(llama_sampler_init_dry)(api_->vocabulary, settings.dry_multiplier, 1.75F, 2, 64, breakers.data(),
                                      breakers.size()));
  }
  if (settings.temperature <= 0) return add(LLAMA(llama_sampler_init_greedy)());
  add(LLAMA(llama_sampler_init_top_k)(settings.top_k));
  add(LLAMA(llama_sampler_init_typical)(settings.typical_p, 1));
  add(LLAMA(llama_sampler_init_top_p)(settings.top_p, 1));
  add(LLAMA(llama_sampler_init_min_p)(settings.min_p, 1));
  if (settings.xtc_probability > 0) {
    add(LLAMA(llama_sampler_init_xtc)(settings.xtc_probability, 0.1F, 1, settings.seed));
  }
  add(LLAMA(llama_sampler_init_temp)(settings.temperature));
  add(LLAMA(llama_sampler_init_dist)(settings.seed));
}

NativeCompletion NativeLlama::Complete(const std::string& prompt, const NativeSettings& settings,
                                       const Loras& loras) const {
  llama_context_params params = LLAMA(llama_context_default_params)();
  params.n_ctx = settings.context;
  params.n_threads = params.n_threads_batch = settings.threads;
  params.type_k = static_cast<ggml_type>(settings.type_k);
  params.type_v = static_cast<ggml_type>(settings.type_v);
  params.flash_attn_type = static_cast<llama_flash_attn_type>(settings.flash);
  llama_context* context = LLAMA(llama_init_from_model)(api_->model, params);
  std::vector<llama_adapter_lora*> adapters;
  std::vector<float> scales;
  for (const auto& [path, scale] : loras) {
    adapters.push_back(LLAMA(llama_adapter_lora_init)(api_->model, path.c_str()));
    scales.push_back(scale);
    if (adapters.back() == nullptr) throw std::runtime_error("lora");
  }
  if (LLAMA(llama_set_adapters_lora)(context, adapters.data(), adapters.size(), scales.data()) != 0) {
    throw std::runtime_error("loras");
  }
  llama_sampler* chain = LLAMA(llama_sampler_chain_init)(LLAMA(llama_sampler_chain_default_params)());
  const auto add = [&](llama_sampler* sampler) { LLAMA(llama_sampler_chain_add)(chain, sampler); };
  AddSamplers(settings, add);
  NativeCompletion completion;
  double start = Now();
  const double begin = start;
  completion.prompt = Tokenize(prompt);
  llama_batch batch =
      LLAMA(llama_batch_get_one)(completion.prompt.data(), static_cast<int32_t>(completion.prompt.size()));
  int32_t token = 0;
  size_t held = completion.prompt.size();
  while (static_cast<int32_t>(completion.tokens.size()) < settings.predict) {
    if (LLAMA(llama_decode)(context, batch) != 0) break;
    token = LLAMA(llama_sampler_sample)(chain, context, -1);
    if (completion.tokens.empty()) {
      completion.first_seconds = Now() - begin;
      completion.prompt_seconds = Now() - start;
      start = Now();
    }
    if (LLAMA(llama_vocab_is_eog)(api_->vocabulary, token)) break;
    completion.tokens.push_back(token);
    char piece[256];
    const int32_t n = LLAMA(llama_token_to_piece)(api_->vocabulary, token, piece, sizeof(piece), 0, false);
    completion.bytes.append(piece, static_cast<size_t>(n));
    if (settings.on_piece) settings.on_piece();
    batch = LLAMA(llama_batch_get_one)(&token, 1);
    if (settings.room > 0 && held == settings.room) {
      const size_t discarded = (held - settings.keep) / 2;
      const auto from = static_cast<int32_t>(settings.keep), to = static_cast<int32_t>(settings.keep + discarded);
      llama_memory_t memory = LLAMA(llama_get_memory)(context);
      LLAMA(llama_memory_seq_rm)(memory, 0, from, to);
      LLAMA(llama_memory_seq_add)(memory, 0, to, -1, from - to);
      held -= discarded;
    }
    ++held;
  }
  completion.generation_seconds = Now() - start;
  LLAMA(llama_sampler_free)(chain);
  LLAMA(llama_free)(context);
  return completion;
}

double NativeLlama::CompleteMany(const std::string& prompt, int32_t n, int32_t predict, int threads) const {
  const std::vector<int32_t> tokens = Tokenize(prompt);
  llama_context_params params = LLAMA(llama_context_default_params)();
  params.n_ctx = 512 * static_cast<uint32_t>(n);
  params.n_seq_max = static_cast<uint32_t>(n);
  params.n_threads = params.n_threads_batch = threads;
  llama_context* context = LLAMA(llama_init_from_model)(api_->model, params);
  llama_batch batch = LLAMA(llama_batch_init)(512 * n, 0, 1);
  const auto add = [&](int32_t token, int32_t pos, int32_t sequence, bool logits) {
    const int32_t at = batch.n_tokens++;
    batch.token[at] = token;
    batch.pos[at] = pos;
    batch.n_seq_id[at] = 1;
    batch.seq_id[at][0] = sequence;
    batch.logits[at] = static_cast<int8_t>(logits);
  };
  std::vector<llama_sampler*> samplers;
  std::vector<int32_t> last(static_cast<size_t>(n));
  batch.n_tokens = 0;
  for (int32_t i = 0; i < n; ++i) {
    samplers.push_back(LLAMA(llama_sampler_init_greedy)());
    for (size_t t = 0; t < tokens.size(); ++t) add(tokens[t], static_cast<int32_t>(t), i, t + 1 == tokens.size());
    last[static_cast<size_t>(i)] = batch.n_tokens - 1;
  }
  const double start = Now();
  LLAMA(llama_decode)(context, batch);
  for (int32_t step = 0; step < predict; ++step) {
    std::vector<int32_t> next;
    for (size_t i = 0; i < samplers.size(); ++i)
      next.push_back(LLAMA(llama_sampler_sample)(samplers[i], context, last[i]));
    if (step + 1 == predict) break;
    batch.n_tokens = 0;
    for (int32_t i = 0; i < n; ++i) {
      last[static_cast<size_t>(i)] = batch.n_tokens;
      add(next[static_cast<size_t>(i)], static_cast<int32_t>(tokens.size()) + step, i, true);
    }
    LLAMA(llama_decode)(context, batch);
  }
  const double seconds = Now() - start;
  for (llama_sampler* sampler : samplers) LLAMA(llama_sampler_free)(sampler);
  LLAMA(llama_batch_free)(batch);
  LLAMA(llama_free)(context);
  return seconds;
}

std::vector<float> NativeLlama::Embed(const std::string& text) const {
  std::vector<int32_t> tokens = Tokenize(text);
  llama_context_params params = LLAMA(llama_context_default_params)();
  params.n_ctx = params.n_batch = params.n_ubatch = 512;
  params.n_threads = params.n_threads_batch = 1;
  params.embeddings = true;
  params.pooling_type = LLAMA_POOLING_TYPE_MEAN;
  llama_context* context = LLAMA(llama_init_from_model)(api_->model, params);
  LLAMA(llama_decode)(context, LLAMA(llama_batch_get_one)(tokens.data(), static_cast<int32_t>(tokens.size())));
  const float* values = LLAMA(llama_get_embeddings_seq)(context, 0);
  std::vector<float> embedding(values, values + LLAMA(llama_model_n_embd)(api_->model));
  LLAMA(llama_free)(context);
  double sum = 0;
  for (const float value : embedding) sum += double{value} * value;
  for (float& value : embedding) value = static_cast<float>(value / std::sqrt(sum));
  return embedding;
}

}  // namespace wasinn::test
