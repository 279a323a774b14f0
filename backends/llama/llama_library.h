// llama.cpp, opened at run time.
#pragma once

#include <ggml-backend.h>
#include <llama.h>

#include <memory>
#include <string>

#include "common/library.h"

namespace wasinn::llama {

// All functions in use, as (member, function): the member has the header's type.
#define WASINN_LLAMA_FUNCTIONS(X)                                     \
  X(version, llama_version)                                           \
  X(model_default_params, llama_model_default_params)                 \
  X(context_default_params, llama_context_default_params)             \
  X(sampler_chain_default_params, llama_sampler_chain_default_params) \
  X(backend_init, llama_backend_init)                                 \
  X(log_set, llama_log_set)                                           \
  X(model_load_from_file, llama_model_load_from_file)                 \
  X(model_load_from_file_ptr, llama_model_load_from_file_ptr)         \
  X(model_free, llama_model_free)                                     \
  X(model_n_ctx_train, llama_model_n_ctx_train)                       \
  X(model_n_embd_out, llama_model_n_embd_out)                         \
  X(model_n_embd, llama_model_n_embd)                                 \
  X(model_n_embd_inp, llama_model_n_embd_inp)                         \
  X(model_n_cls_out, llama_model_n_cls_out)                           \
  X(model_n_params, llama_model_n_params)                             \
  X(model_size, llama_model_size)                                     \
  X(model_desc, llama_model_desc)                                     \
  X(model_has_encoder, llama_model_has_encoder)                       \
  X(model_has_decoder, llama_model_has_decoder)                       \
  X(model_is_recurrent, llama_model_is_recurrent)                     \
  X(model_is_hybrid, llama_model_is_hybrid)                           \
  X(model_is_diffusion, llama_model_is_diffusion)                     \
  X(model_n_swa, llama_model_n_swa)                                   \
  X(model_chat_template, llama_model_chat_template)                   \
  X(model_get_vocab, llama_model_get_vocab)                           \
  X(adapter_lora_init, llama_adapter_lora_init)                       \
  X(set_adapters_lora, llama_set_adapters_lora)                       \
  X(max_devices, llama_max_devices)                                   \
  X(init_from_model, llama_init_from_model)                           \
  X(free, llama_free)                                                 \
  X(n_ctx_seq, llama_n_ctx_seq)                                       \
  X(n_batch, llama_n_batch)                                           \
  X(n_ubatch, llama_n_ubatch)                                         \
  X(set_causal_attn, llama_set_causal_attn)                           \
  X(get_memory, llama_get_memory)                                     \
  X(pooling_type, llama_pooling_type)                                 \
  X(memory_clear, llama_memory_clear)                                 \
  X(memory_seq_rm, llama_memory_seq_rm)                               \
  X(memory_seq_cp, llama_memory_seq_cp)                               \
  X(memory_seq_pos_max, llama_memory_seq_pos_max)                     \
  X(memory_seq_add, llama_memory_seq_add)                             \
  X(memory_can_shift, llama_memory_can_shift)                         \
  X(state_seq_get_size, llama_state_seq_get_size)                     \
  X(state_seq_get_data, llama_state_seq_get_data)                     \
  X(state_seq_set_data, llama_state_seq_set_data)                     \
  X(batch_get_one, llama_batch_get_one)                               \
  X(batch_init, llama_batch_init)                                     \
  X(batch_free, llama_batch_free)                                     \
  X(decode, llama_decode)                                             \
  X(encode, llama_encode)                                             \
  X(attach_threadpool, llama_attach_threadpool)                       \
  X(set_n_threads, llama_set_n_threads)                               \
  X(get_embeddings_ith, llama_get_embeddings_ith)                     \
  X(get_embeddings_seq, llama_get_embeddings_seq)                     \
  X(get_logits_ith, llama_get_logits_ith)                             \
  X(vocab_n_tokens, llama_vocab_n_tokens)                             \
  X(vocab_type, llama_vocab_type)                                     \
  X(vocab_get_attr, llama_vocab_get_attr)                             \
  X(vocab_is_eog, llama_vocab_is_eog)                                 \
  X(vocab_bos, llama_vocab_bos)                                       \
  X(vocab_eos, llama_vocab_eos)                                       \
  X(vocab_sep, llama_vocab_sep)                                       \
  X(vocab_get_add_bos, llama_vocab_get_add_bos)                       \
  X(vocab_get_add_eos, llama_vocab_get_add_eos)                       \
  X(vocab_get_add_sep, llama_vocab_get_add_sep)                       \
  X(tokenize, llama_tokenize)                                         \
  X(token_to_piece, llama_token_to_piece)                             \
  X(chat_apply_template, llama_chat_apply_template)                   \
  X(chat_builtin_templates, llama_chat_builtin_templates)             \
  X(sampler_chain_init, llama_sampler_chain_init)                     \
  X(sampler_chain_add, llama_sampler_chain_add)                       \
  X(sampler_free, llama_sampler_free)                                 \
  X(sampler_apply, llama_sampler_apply)                               \
  X(sampler_accept, llama_sampler_accept)                             \
  X(sampler_init_greedy, llama_sampler_init_greedy)                   \
  X(sampler_init_dist, llama_sampler_init_dist)                       \
  X(sampler_init_top_k, llama_sampler_init_top_k)                     \
  X(sampler_init_top_p, llama_sampler_init_top_p)                     \
  X(sampler_init_min_p, llama_sampler_init_min_p)                     \
  X(sampler_init_typical, llama_sampler_init_typical)                 \
  X(sampler_init_temp, llama_sampler_init_temp)                       \
  X(sampler_init_penalties, llama_sampler_init_penalties)             \
  X(sampler_init_dry, llama_sampler_init_dry)                         \
  X(sampler_init_xtc, llama_sampler_init_xtc)                         \
  X(sampler_init_mirostat, llama_sampler_init_mirostat)               \
  X(sampler_init_mirostat_v2, llama_sampler_init_mirostat_v2)         \
  X(sampler_init_logit_bias, llama_sampler_init_logit_bias)           \
  X(sampler_get_seed, llama_sampler_get_seed)

// ggml's functions, which libllama.so opens.
#define WASINN_GGML_FUNCTIONS(X)                         \
  X(block_elements, ggml_blck_size)                      \
  X(block_bytes, ggml_type_size)                         \
  X(is_quantized, ggml_is_quantized)                     \
  X(load_device, ggml_backend_load)                      \
  X(dev_count, ggml_backend_dev_count)                   \
  X(dev_get, ggml_backend_dev_get)                       \
  X(dev_type, ggml_backend_dev_type)                     \
  X(dev_description, ggml_backend_dev_description)       \
  X(dev_reg, ggml_backend_dev_backend_reg)               \
  X(reg_proc_address, ggml_backend_reg_get_proc_address) \
  X(commit, ggml_commit)                                 \
  X(threadpool_params_default, ggml_threadpool_params_default)

// Stays open as long as the process lives.
class LlamaLibrary {
 public:
  // `configured`: an absolute path of the library or its folder; empty: the dynamic linker's search. Throws
  // WASINN_ERROR_UNSUPPORTED_OPERATION if it is missing.
  explicit LlamaLibrary(const std::string& configured);

  const std::string& path() const { return path_; }

#define WASINN_MEMBER(member, function) decltype(&::function) member;  // NOLINT(bugprone-macro-parentheses): declares
  WASINN_LLAMA_FUNCTIONS(WASINN_MEMBER)
  WASINN_GGML_FUNCTIONS(WASINN_MEMBER)
#undef WASINN_MEMBER

  // From the CPU's device; NULL if it has none.
  ggml_threadpool_t (*threadpool_new)(ggml_threadpool_params*) = nullptr;
  void (*threadpool_free)(ggml_threadpool_t) = nullptr;

  // The first device of a type; NULL if there is none.
  ggml_backend_dev_t FindDevice(enum ggml_backend_dev_type type) const;
  size_t CountDevices(enum ggml_backend_dev_type type) const;
  // "cpu, gpu (NVIDIA …)"
  std::string Devices() const;

 private:
  void Start() const;

  std::string path_;
};

struct FreeModel {
  const LlamaLibrary* library;
  void operator()(llama_model* model) const { library->model_free(model); }
};
using ModelPtr = std::unique_ptr<llama_model, FreeModel>;

struct FreeContext {
  const LlamaLibrary* library;
  void operator()(llama_context* context) const { library->free(context); }
};
using ContextPtr = std::unique_ptr<llama_context, FreeContext>;

struct FreeSampler {
  const LlamaLibrary* library;
  void operator()(llama_sampler* sampler) const { library->sampler_free(sampler); }
};
using SamplerPtr = std::unique_ptr<llama_sampler, FreeSampler>;

}  // namespace wasinn::llama
