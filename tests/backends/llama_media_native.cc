#include "backends/llama_media_native.h"

#include <dlfcn.h>
#include <ggml-backend.h>
#include <llama.h>
#include <mtmd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <numeric>
#include <span>
#include <stdexcept>

#include "backends/native_place.h"

namespace wasinn::test {

namespace {

std::string LibraryBeside(const char* name) {
  return (std::filesystem::path(NativeLibrary("llama")).parent_path() / name).string();
}

template <typename Function>
Function MediaSymbol(const char* name) {
  static void* const llama = dlopen(NativeLibrary("llama").c_str(), RTLD_NOW | RTLD_LOCAL);
  static void* const mtmd = dlopen(LibraryBeside("libwasinn_llama_mtmd.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (llama == nullptr || mtmd == nullptr) throw std::runtime_error(dlerror());
  void* symbol = dlsym(std::string_view(name).starts_with("mtmd_") ? mtmd : llama, name);
  if (symbol == nullptr) throw std::runtime_error(name);
  return reinterpret_cast<Function>(symbol);
}
#define NATIVE(function) MediaSymbol<decltype(&(function))>(#function)

void SayNothing(ggml_log_level /*level*/, const char* /*text*/, void* /*user*/) {}

using Free = std::function<void()>;
// Frees on its way out.
class Finally {
 public:
  explicit Finally(Free free) : free_(std::move(free)) {}
  ~Finally() { free_(); }
  Finally(const Finally&) = delete;
  Finally& operator=(const Finally&) = delete;

 private:
  const Free free_;
};

constexpr uint32_t kContextSize = 512;

}  // namespace

struct NativeMedia::Api {
  llama_model* model = nullptr;
  const llama_vocab* vocabulary = nullptr;
  mtmd_context* projector = nullptr;
  size_t width = 0;

  using Chunks = std::unique_ptr<mtmd_input_chunks, void (*)(mtmd_input_chunks*)>;
  Chunks Tokenize(const NativeMediaPrompt& prompt) const;
  // One chunk behind `past` positions; returns those that are there then.
  llama_pos Evaluate(llama_context* context, const mtmd_input_chunk* chunk, llama_pos past, int32_t batch) const;
  void EvaluateEmbeddings(llama_context* context, const mtmd_input_chunk* chunk, llama_pos past, int32_t batch) const;
  std::vector<llama_pos> Positions(const mtmd_input_chunk* chunk, llama_pos past) const;
};

NativeMedia::NativeMedia(const std::string& model, const std::string& projector) : api_(std::make_unique<Api>()) {
  if (NATIVE(ggml_backend_dev_count)() == 0) {
    NATIVE(llama_log_set)(SayNothing, nullptr);
    NATIVE(llama_backend_init)();
    NATIVE(ggml_backend_load_all_from_path)(LibraryBeside("").c_str());
  }
  NATIVE(mtmd_log_set)(SayNothing, nullptr);
  llama_model_params params = NATIVE(llama_model_default_params)();
  if (!NativeOnGpu()) params.n_gpu_layers = 0;
  api_->model = NATIVE(llama_model_load_from_file)(model.c_str(), params);
  if (api_->model == nullptr) throw std::runtime_error("llama.cpp cannot load " + model);
  api_->vocabulary = NATIVE(llama_model_get_vocab)(api_->model);
  api_->width = static_cast<size_t>(NATIVE(llama_model_n_embd_inp)(api_->model));
  mtmd_context_params of_projector = NATIVE(mtmd_context_params_default)();
  of_projector.use_gpu = NativeOnGpu();
  of_projector.print_timings = false;
  of_projector.n_threads = 1;
  api_->projector = NATIVE(mtmd_init_from_file)(projector.c_str(), api_->model, of_projector);
  if (api_->projector == nullptr) throw std::runtime_error("mtmd cannot load " + projector);
}

NativeMedia::~NativeMedia() {
  NATIVE(mtmd_free)(api_->projector);
  NATIVE(llama_model_free)(api_->model);
}

NativeMedia::Api::Chunks NativeMedia::Api::Tokenize(const NativeMediaPrompt& prompt) const {
  std::vector<const mtmd_bitmap*> bitmaps;
  for (const Pixels& image : prompt.images) {
    bitmaps.push_back(NATIVE(mtmd_bitmap_init)(image.width, image.height, image.rgb.data()));
  }
  for (const auto& sound : prompt.sounds) {
    bitmaps.push_back(NATIVE(mtmd_bitmap_init_from_audio)(sound.size(), sound.data()));
  }
  const Finally free([&] {
    for (const mtmd_bitmap* bitmap : bitmaps) NATIVE(mtmd_bitmap_free)(const_cast<mtmd_bitmap*>(bitmap));
  });
  Chunks chunks(NATIVE(mtmd_input_chunks_init)(), NATIVE(mtmd_input_chunks_free));
  const mtmd_input_text text = {prompt.text.data(), prompt.text.size(), true, true};
  if (NATIVE(mtmd_tokenize)(projector, chunks.get(), &text, bitmaps.data(), bitmaps.size()) != 0) {
    throw std::runtime_error("mtmd cannot make tokens of the prompt");
  }
  return chunks;
}

size_t NativeMedia::CountTokens(const NativeMediaPrompt& prompt) const {
  const auto chunks = api_->Tokenize(prompt);
  size_t count = 0;
  for (size_t i = 0; i < NATIVE(mtmd_input_chunks_size)(chunks.get()); ++i) {
    count += NATIVE(mtmd_input_chunk_get_n_tokens)(NATIVE(mtmd_input_chunks_get)(chunks.get(), i));
  }
  return count;
}

// As mtmd's helper lays them out, which is for another version of llama.cpp's batches than the library has.
std::vector<llama_pos> NativeMedia::Api::Positions(const mtmd_input_chunk* chunk, llama_pos past) const {
  const size_t count = NATIVE(mtmd_input_chunk_get_n_tokens)(chunk);
  const bool has_four = NATIVE(mtmd_decode_use_mrope)(projector);
  const mtmd_image_tokens* image = NATIVE(mtmd_input_chunk_get_tokens_image)(chunk);
  std::vector<llama_pos> positions(count * (has_four ? 4 : 1));
  for (size_t i = 0; i < count; ++i) {
    const auto at = static_cast<uint32_t>(past) + static_cast<uint32_t>(i);
    mtmd_decoder_pos position = {at, at, at, at};
    if (has_four && image != nullptr) position = NATIVE(mtmd_image_tokens_get_decoder_pos)(image, past, i);
    const uint32_t four[] = {position.t, position.y, position.x, position.z};
    for (size_t k = 0; k < (has_four ? 4 : 1); ++k) positions[k * count + i] = static_cast<llama_pos>(four[k]);
  }
  return positions;
}

void NativeMedia::Api::EvaluateEmbeddings(llama_context* context, const mtmd_input_chunk* chunk, llama_pos past,
                                          int32_t batch) const {
  if (NATIVE(mtmd_encode_chunk)(projector, chunk) != 0) throw std::runtime_error("mtmd cannot encode");
  const std::vector<llama_pos> positions = Positions(chunk, past);
  const auto count = static_cast<int32_t>(NATIVE(mtmd_input_chunk_get_n_tokens)(chunk));
  const bool is_whole = NATIVE(mtmd_decode_use_non_causal)(projector, chunk);
  if (is_whole) NATIVE(llama_set_causal_attn)(context, false);
  for (int32_t at = 0; at < count; at += batch) {
    const int32_t n = std::min(batch, count - at);
    std::vector<llama_pos> of_part;
    for (size_t from = static_cast<size_t>(at); from < positions.size(); from += static_cast<size_t>(count)) {
      of_part.insert(of_part.end(), positions.begin() + static_cast<ptrdiff_t>(from),
                     positions.begin() + static_cast<ptrdiff_t>(from) + n);
    }
    std::vector<int8_t> logits(static_cast<size_t>(n), 0);
    llama_batch part = {};
    part.n_tokens = n;
    part.embd = NATIVE(mtmd_get_output_embd)(projector) + static_cast<size_t>(at) * width;
    part.pos = of_part.data();
    part.logits = logits.data();
    if (NATIVE(llama_decode)(context, part) != 0) throw std::runtime_error("llama.cpp cannot evaluate an image");
  }
  if (is_whole) NATIVE(llama_set_causal_attn)(context, true);
}

llama_pos NativeMedia::Api::Evaluate(llama_context* context, const mtmd_input_chunk* chunk, llama_pos past,
                                     int32_t batch) const {
  if (NATIVE(mtmd_input_chunk_get_type)(chunk) != MTMD_INPUT_CHUNK_TYPE_TEXT) {
    EvaluateEmbeddings(context, chunk, past, batch);
    return past + NATIVE(mtmd_input_chunk_get_n_pos)(chunk);
  }
  size_t count = 0;
  const llama_token* tokens = NATIVE(mtmd_input_chunk_get_tokens_text)(chunk, &count);
  std::vector<llama_pos> positions(count);
  std::iota(positions.begin(), positions.end(), past);
  llama_batch text = {};
  text.n_tokens = static_cast<int32_t>(count);
  text.token = const_cast<llama_token*>(tokens);
  text.pos = positions.data();
  if (NATIVE(llama_decode)(context, text) != 0) throw std::runtime_error("llama.cpp cannot evaluate a text");
  return past + static_cast<llama_pos>(count);
}

std::string NativeMedia::Complete(const NativeMediaPrompt& prompt, int32_t predict, int32_t batch) const {
  const auto chunks = api_->Tokenize(prompt);
  llama_context_params params = NATIVE(llama_context_default_params)();
  params.n_ctx = kContextSize;
  params.n_threads = params.n_threads_batch = 1;
  llama_context* context = NATIVE(llama_init_from_model)(api_->model, params);
  const Finally free([&] { NATIVE(llama_free)(context); });
  llama_pos past = 0;
  for (size_t i = 0; i < NATIVE(mtmd_input_chunks_size)(chunks.get()); ++i) {
    past = api_->Evaluate(context, NATIVE(mtmd_input_chunks_get)(chunks.get(), i), past, batch);
  }
  std::string said;
  const auto size = static_cast<size_t>(NATIVE(llama_vocab_n_tokens)(api_->vocabulary));
  for (int32_t i = 0; i < predict; ++i) {
    const std::span logits(NATIVE(llama_get_logits_ith)(context, -1), size);
    auto token = static_cast<llama_token>(std::ranges::max_element(logits) - logits.begin());
    if (NATIVE(llama_vocab_is_eog)(api_->vocabulary, token)) break;
    char piece[256];
    const int32_t n = NATIVE(llama_token_to_piece)(api_->vocabulary, token, piece, sizeof(piece), 0, false);
    said.append(piece, static_cast<size_t>(std::max(n, 0)));
    llama_batch next = {};
    next.n_tokens = 1;
    next.token = &token;
    next.pos = &past;
    if (NATIVE(llama_decode)(context, next) != 0) throw std::runtime_error("llama.cpp cannot evaluate a token");
    ++past;
  }
  return said;
}

}  // namespace wasinn::test
