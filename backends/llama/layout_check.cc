#include "llama/layout_check.h"

#include <cstddef>
#include <cstring>
#include <new>

#include "common/throw.h"
#include "llama/llama_library.h"

namespace wasinn::llama {

using backend::Throw;

namespace {

constexpr size_t kMoreRoom = 512;  // for members that a newer struct has at its end

// Structs that are returned by value are written to the caller's memory, which is larger here.
template <typename Params>
struct alignas(16) Room {
  std::byte bytes[sizeof(Params) + kMoreRoom];
};

template <typename Params>
class Filled {
 public:
  Filled(const LlamaLibrary& library, const char* name, Params (*defaults)()) : library_(library), name_(name) {
    static_assert(sizeof(Params) > 16, "smaller ones are returned in registers");
    const Room<Params> once = Call(defaults, std::byte{0xa5}), again = Call(defaults, std::byte{0x5a});
    // A byte that differs was not written: padding, or memory after the struct.
    for (size_t i = 0; i < sizeof(once.bytes); ++i) {
      if (once.bytes[i] == again.bytes[i]) end_ = i + 1;
    }
    std::memcpy(&params_, once.bytes, sizeof(Params));
  }

  const Params& params() const { return params_; }

  // `last`: the end of the last field, followed only by padding.
  void CheckEnd(size_t last) const {
    if (end_ < last || end_ > sizeof(Params)) Refuse(fmt::format("it has {} bytes: expected {}", end_, last));
  }
  template <typename T>
  void CheckField(const char* field, T found, T expected) const {
    if (found != expected) Refuse(fmt::format("{} is {}: expected {}", field, found, expected));
  }

 private:
  static Room<Params> Call(Params (*defaults)(), std::byte fill) {
    alignas(Room<Params>) std::byte memory[sizeof(Room<Params>)];
    std::memset(memory, static_cast<int>(fill), sizeof(memory));
    // Bytes that the call does not write matter, so the compiler must not assume that it writes all.
    asm volatile("" : : "r"(static_cast<void*>(memory)) : "memory");
    new (memory) Room<Params>(reinterpret_cast<Room<Params> (*)()>(reinterpret_cast<void (*)()>(defaults))());
    asm volatile("" : : "r"(static_cast<void*>(memory)) : "memory");
    Room<Params> room;
    std::memcpy(&room, memory, sizeof(room));
    return room;
  }

  [[noreturn]] void Refuse(const std::string& why) const {
    Throw(
        WASINN_ERROR_UNSUPPORTED_OPERATION,
        "llama.cpp {} ({}) has a different {} than this backend was built for: {}; scripts/deps.sh llama installs the "
        "one that fits",
        library_.version(), library_.path(), name_, why);
  }

  const LlamaLibrary& library_;
  const char* const name_;
  size_t end_ = 0;
  Params params_;
};

template <typename T>
int64_t Whole(T value) {
  return static_cast<int64_t>(value);
}

// The header's documented defaults for its version of the library, in the order of the fields.
void CheckContextParams(const LlamaLibrary& library) {
  const Filled<llama_context_params> filled(library, "llama_context_params", library.context_default_params);
  filled.CheckEnd(offsetof(llama_context_params, ctx_other) + sizeof(void*));
  const llama_context_params& p = filled.params();
#define WASINN_CHECK(field, expected) filled.CheckField<int64_t>(#field, Whole(p.field), expected);
  WASINN_CHECK(n_ctx, 512)
  WASINN_CHECK(n_batch, 2048)
  WASINN_CHECK(n_ubatch, 512)
  WASINN_CHECK(n_seq_max, 1)
  WASINN_CHECK(n_rs_seq, 0)
  WASINN_CHECK(n_outputs_max, 0)
  WASINN_CHECK(n_outputs_max_per_seq, 1)
  WASINN_CHECK(n_threads, GGML_DEFAULT_N_THREADS)
  WASINN_CHECK(n_threads_batch, GGML_DEFAULT_N_THREADS)
  WASINN_CHECK(ctx_type, LLAMA_CONTEXT_TYPE_DEFAULT)
  WASINN_CHECK(rope_scaling_type, LLAMA_ROPE_SCALING_TYPE_UNSPECIFIED)
  WASINN_CHECK(pooling_type, LLAMA_POOLING_TYPE_UNSPECIFIED)
  WASINN_CHECK(attention_type, LLAMA_ATTENTION_TYPE_UNSPECIFIED)
  WASINN_CHECK(flash_attn_type, LLAMA_FLASH_ATTN_TYPE_AUTO)
  WASINN_CHECK(rope_freq_base, 0)
  WASINN_CHECK(rope_freq_scale, 0)
  WASINN_CHECK(yarn_ext_factor, -1)
  WASINN_CHECK(yarn_attn_factor, -1)
  WASINN_CHECK(yarn_beta_fast, -1)
  WASINN_CHECK(yarn_beta_slow, -1)
  WASINN_CHECK(yarn_orig_ctx, 0)
  WASINN_CHECK(defrag_thold, -1)
  WASINN_CHECK(cb_eval != nullptr, 0)
  WASINN_CHECK(cb_eval_user_data != nullptr, 0)
  WASINN_CHECK(type_k, GGML_TYPE_F16)
  WASINN_CHECK(type_v, GGML_TYPE_F16)
  WASINN_CHECK(abort_callback != nullptr, 0)
  WASINN_CHECK(abort_callback_data != nullptr, 0)
  WASINN_CHECK(embeddings, 0)
  WASINN_CHECK(offload_kqv, 1)
  WASINN_CHECK(no_perf, 1)
  WASINN_CHECK(op_offload, 1)
  WASINN_CHECK(swa_full, 1)
  WASINN_CHECK(kv_unified, 0)
  WASINN_CHECK(samplers != nullptr, 0)
  WASINN_CHECK(n_samplers, 0)
  WASINN_CHECK(ctx_other != nullptr, 0)
}

void CheckModelParams(const LlamaLibrary& library) {
  const Filled<llama_model_params> filled(library, "llama_model_params", library.model_default_params);
  filled.CheckEnd(offsetof(llama_model_params, load_mtp) + sizeof(bool));
  const llama_model_params& p = filled.params();
  WASINN_CHECK(devices != nullptr, 0)
  WASINN_CHECK(tensor_buft_overrides != nullptr, 0)
  WASINN_CHECK(n_gpu_layers, -1)
  WASINN_CHECK(split_mode, LLAMA_SPLIT_MODE_LAYER)
  WASINN_CHECK(load_mode, LLAMA_LOAD_MODE_AUTO)
  WASINN_CHECK(lazy_mode, LLAMA_LAZY_MODE_AUTO)
  WASINN_CHECK(main_gpu, 0)
  WASINN_CHECK(tensor_split != nullptr, 0)
  WASINN_CHECK(progress_callback != nullptr, 0)
  WASINN_CHECK(progress_callback_user_data != nullptr, 0)
  WASINN_CHECK(kv_overrides != nullptr, 0)
  WASINN_CHECK(vocab_only, 0)
  WASINN_CHECK(check_tensors, 0)
  WASINN_CHECK(use_extra_bufts, 1)
  WASINN_CHECK(no_host, 0)
  WASINN_CHECK(no_alloc, 0)
  WASINN_CHECK(load_mtp, 0)
#undef WASINN_CHECK
}

}  // namespace

void CheckLayouts(const LlamaLibrary& library) {
  CheckModelParams(library);
  CheckContextParams(library);
}

}  // namespace wasinn::llama
