// The functions of wasinn_llama_mtmd.h over llama.cpp's mtmd.
#include "mtmd.h"

#include <ggml-backend.h>

#include <array>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "limits.h"
#include "wasinn_llama_mtmd.h"
#include "wasinn_media.h"

#define WASINN_EXPORT extern "C" __attribute__((visibility("default")))

namespace {
using Digest = std::array<uint8_t, 32>;
}  // namespace

struct wasinn_llama_projector {
  mtmd::context_ptr context;
  size_t width = 0;  // of what stands for a token
};

struct wasinn_llama_media {
  const wasinn_llama_projector* projector = nullptr;
  std::vector<Digest> digests;  // of the files
  mtmd::input_chunks chunks{mtmd_input_chunks_init()};
};

namespace {

using wasinn_llama::Call;

// The call that encodes on this thread; 0 if there is none.
thread_local int encoding_threads = 0;

bool IsStopped(void* /*user*/) { return !wasinn_llama::GoesOn(); }

int Ask(void* held, uint64_t bytes) { return static_cast<wasinn_llama::HeldElsewhere*>(held)->Take(bytes) ? 1 : 0; }

class Fault {
 public:
  wasinn_media_text* text() { return &text_; }
  // Throws the error that a function of wasinn_media.h has reported. If it was stopped, the call knows why.
  void Check(const std::string& what, int status) const {
    if (status != WASINN_LLAMA_OK) throw std::runtime_error(what + ": " + bytes_);
  }

 private:
  char bytes_[256] = "stopped";
  wasinn_media_text text_ = {sizeof(bytes_), bytes_};
};

using File = std::vector<uint8_t>;

File FromBase64(const wasinn_llama_part& part, const std::string& name) {
  File file(part.size / 4 * 3 + 3);
  size_t size = 0;
  Fault fault;
  fault.Check(name, wasinn_media_base64(part.data, part.size, file.data(), &size, fault.text()));
  file.resize(size);
  return file;
}

mtmd::bitmap Image(const File& file, const std::string& name) {
  uint32_t width = 0, height = 0;
  Fault fault;
  {
    wasinn_llama::HeldElsewhere held;
    fault.Check(name, wasinn_media_image_size(file.data(), file.size(), &width, &height, {Ask, &held}, fault.text()));
  }
  std::vector<uint8_t> pixels(size_t{3} * width * height);
  {
    wasinn_llama::HeldElsewhere held;
    fault.Check(name, wasinn_media_image_pixels(file.data(), file.size(), pixels.data(), pixels.size(), {Ask, &held},
                                                fault.text()));
  }
  return {width, height, pixels.data()};
}

struct Samples {
  wasinn_media_sound_samples sound = {};
  ~Samples() { wasinn_media_sound_free(&sound); }
};

mtmd::bitmap Sound(const mtmd_context* context, const File& file, const std::string& name) {
  const auto rate = static_cast<uint32_t>(mtmd_get_audio_sample_rate(context));
  wasinn_llama::HeldElsewhere held;
  Samples samples;
  Fault fault;
  fault.Check(name, wasinn_media_sound(file.data(), file.size(), rate, {Ask, &held}, &samples.sound, fault.text()));
  return mtmd::bitmap(mtmd_bitmap_init_from_audio(samples.sound.count, samples.sound.samples));
}

// The parts, as mtmd represents them.
class Parts {
 public:
  explicit Parts(const mtmd_context* context) : context_(context) {}

  void Add(const wasinn_llama_part& part) {
    if (part.kind == WASINN_LLAMA_TEXT) {
      texts_.push_back(std::make_unique<mtmd_input_text>(
          mtmd_input_text{part.data, part.size, /*add_special=*/true, /*parse_special=*/true}));
      parts_.push_back({texts_.back().get(), nullptr});
      return;
    }
    const bool is_image = part.kind == WASINN_LLAMA_IMAGE;
    const std::string name = (is_image ? "image " : "sound ") + std::to_string(bitmaps_.size() + 1);
    const File file = FromBase64(part, name);
    wasinn_media_sha256(file.data(), file.size(), digests_.emplace_back().data());
    bitmaps_.push_back(is_image ? Image(file, name) : Sound(context_, file, name));
    bitmaps_.back().set_id(std::to_string(bitmaps_.size() - 1).c_str());
    parts_.push_back({nullptr, bitmaps_.back().ptr.get()});
  }

  std::vector<const mtmd_input_part*> list() const {
    std::vector<const mtmd_input_part*> list;
    for (const mtmd_input_part& part : parts_) list.push_back(&part);
    return list;
  }
  std::vector<Digest> digests() const { return digests_; }

 private:
  const mtmd_context* const context_;
  std::vector<std::unique_ptr<mtmd_input_text>> texts_;
  std::vector<mtmd::bitmap> bitmaps_;
  std::vector<Digest> digests_;
  std::vector<mtmd_input_part> parts_;
};

}  // namespace

// clip.cpp calls it before it computes, instead of setting its own number of threads.
void wasinn_llama_prepare(ggml_backend_t cpu, int threads) {
  const ggml_backend_dev_t device = ggml_backend_get_device(cpu);
  const ggml_backend_reg_t reg = ggml_backend_dev_backend_reg(device);
  const auto set_threads = reinterpret_cast<ggml_backend_set_n_threads_t>(
      ggml_backend_reg_get_proc_address(reg, "ggml_backend_set_n_threads"));
  const auto set_abort = reinterpret_cast<ggml_backend_set_abort_callback_t>(
      ggml_backend_reg_get_proc_address(reg, "ggml_backend_set_abort_callback"));
  if (set_threads != nullptr) set_threads(cpu, encoding_threads > 0 ? encoding_threads : threads);
  if (set_abort != nullptr) set_abort(cpu, IsStopped, nullptr);
}

WASINN_EXPORT void wasinn_llama_mtmd_log(ggml_log_callback log, void* user) { mtmd_log_set(log, user); }

WASINN_EXPORT wasinn_llama_projector* wasinn_llama_projector_new(const wasinn_llama_projector_options* options) {
  try {
    mtmd_context_params params = mtmd_context_params_default();
    params.use_gpu = options->gpu != 0;
    params.print_timings = false;
    params.n_threads = 1;
    params.image_min_tokens = options->image_min_tokens;
    params.image_max_tokens = options->image_max_tokens;
    params.progress_callback = options->go_on;
    params.progress_callback_user_data = options->user;
    auto projector = std::make_unique<wasinn_llama_projector>();
    projector->context.reset(mtmd_init_from_file(options->path, options->model, params));
    projector->width = static_cast<size_t>(llama_model_n_embd_inp(options->model));
    return projector->context == nullptr ? nullptr : projector.release();
  } catch (...) {
    return nullptr;
  }
}

WASINN_EXPORT void wasinn_llama_projector_free(wasinn_llama_projector* projector) { delete projector; }

WASINN_EXPORT int wasinn_llama_projector_sees(const wasinn_llama_projector* projector) {
  return mtmd_support_vision(projector->context.get()) ? 1 : 0;
}

WASINN_EXPORT int wasinn_llama_projector_hears(const wasinn_llama_projector* projector) {
  return mtmd_support_audio(projector->context.get()) ? 1 : 0;
}

WASINN_EXPORT int wasinn_llama_projector_is_mrope(const wasinn_llama_projector* projector) {
  return mtmd_decode_use_mrope(projector->context.get()) ? 1 : 0;
}

WASINN_EXPORT int wasinn_llama_media_new(const wasinn_llama_projector* projector, const wasinn_llama_part* parts,
                                         size_t count, wasinn_llama_call* call, wasinn_llama_media** out) {
  std::unique_ptr<wasinn_llama_media> made;
  const int status = Call(call, [&] {
    Parts list(projector->context.get());
    for (size_t i = 0; i < count; ++i) list.Add(parts[i]);
    made = std::make_unique<wasinn_llama_media>();
    made->projector = projector;
    made->digests = list.digests();
    const std::vector<const mtmd_input_part*> inputs = list.list();
    constexpr bool kAddSpecial = true;
    if (mtmd_tokenize_from_parts(projector->context.get(), made->chunks.ptr.get(), inputs.data(), inputs.size(),
                                 kAddSpecial) != 0) {
      throw std::runtime_error("llama.cpp cannot make tokens of the prompt");
    }
    return std::string();
  });
  *out = status == WASINN_LLAMA_OK ? made.release() : nullptr;
  return status;
}

WASINN_EXPORT void wasinn_llama_media_free(wasinn_llama_media* media) { delete media; }

WASINN_EXPORT size_t wasinn_llama_media_size(const wasinn_llama_media* media) { return media->chunks.size(); }

WASINN_EXPORT void wasinn_llama_media_chunk(const wasinn_llama_media* media, size_t index, wasinn_llama_chunk* chunk) {
  const mtmd_input_chunk* of = media->chunks[index];
  *chunk = {};
  const mtmd_input_chunk_type type = mtmd_input_chunk_get_type(of);
  if (type == MTMD_INPUT_CHUNK_TYPE_TEXT) {
    chunk->kind = WASINN_LLAMA_TEXT;
    chunk->tokens = mtmd_input_chunk_get_tokens_text(of, &chunk->count);
  } else {
    chunk->kind = type == MTMD_INPUT_CHUNK_TYPE_IMAGE ? WASINN_LLAMA_IMAGE : WASINN_LLAMA_SOUND;
    chunk->count = mtmd_input_chunk_get_n_tokens(of);
    chunk->digest = media->digests.at(std::strtoul(mtmd_input_chunk_get_id(of), nullptr, 10)).data();
    chunk->all_at_once = mtmd_decode_use_non_causal(media->projector->context.get(), of) ? 1 : 0;
  }
  chunk->positions = mtmd_input_chunk_get_n_pos(of);
}

// In the order of mtmd's own helper: t, y, x and z.
WASINN_EXPORT void wasinn_llama_media_positions(const wasinn_llama_media* media, size_t index, int32_t from,
                                                int32_t* positions) {
  const mtmd_input_chunk* of = media->chunks[index];
  const size_t count = mtmd_input_chunk_get_n_tokens(of);
  const mtmd_image_tokens* image = mtmd_input_chunk_get_tokens_image(of);
  const bool is_mrope = mtmd_decode_use_mrope(media->projector->context.get());
  for (size_t i = 0; i < count; ++i) {
    const auto at = static_cast<uint32_t>(from) + static_cast<uint32_t>(i);
    mtmd_decoder_pos position = {at, at, at, at};
    if (is_mrope && image != nullptr) position = mtmd_image_tokens_get_decoder_pos(image, from, i);
    positions[i] = static_cast<int32_t>(position.t);
    if (!is_mrope) continue;
    positions[count + i] = static_cast<int32_t>(position.y);
    positions[2 * count + i] = static_cast<int32_t>(position.x);
    positions[3 * count + i] = static_cast<int32_t>(position.z);
  }
}

WASINN_EXPORT int wasinn_llama_media_encode(wasinn_llama_media* media, size_t index, int threads, float* numbers,
                                            wasinn_llama_call* call) {
  return Call(call, [&] {
    mtmd_context* context = media->projector->context.get();
    const mtmd_input_chunk* of = media->chunks[index];
    encoding_threads = threads;
    const int failed = mtmd_encode_chunk(context, of);
    encoding_threads = 0;
    if (failed != 0) throw std::runtime_error("llama.cpp cannot encode it");
    const size_t count = mtmd_input_chunk_get_n_tokens(of) * media->projector->width;
    std::memcpy(numbers, mtmd_get_output_embd(context), count * sizeof(float));
    return std::string();
  });
}
