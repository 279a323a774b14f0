// Libraries that look like llama.cpp's and behave like another one: the rest of them is the real one, which they are
// linked with, so that a look-up goes on there.
#include <dlfcn.h>
#include <llama.h>

#include <cstddef>

#if defined(WASINN_SHIM_LARGER)

// A field more at the end.
struct LargerParams {
  llama_context_params params;
  size_t one_more;
};

extern "C" LargerParams llama_context_default_params_larger() __asm__("llama_context_default_params");
extern "C" __attribute__((visibility("default"))) LargerParams llama_context_default_params_larger() {
  const auto next = reinterpret_cast<llama_context_params (*)()>(dlsym(RTLD_NEXT, "llama_context_default_params"));
  return {next(), 7};
}

#elif defined(WASINN_SHIM_OTHER)

// Two fields the other way round.
extern "C" __attribute__((visibility("default"))) llama_context_params llama_context_default_params() {
  const auto next =
      reinterpret_cast<decltype(&llama_context_default_params)>(dlsym(RTLD_NEXT, "llama_context_default_params"));
  llama_context_params params = next();
  const uint32_t batch = params.n_batch;
  params.n_batch = params.n_ubatch;
  params.n_ubatch = batch;
  return params;
}

#elif defined(WASINN_SHIM_WHOLE)

// A memory that cannot lose a part of a conversation, as that of some models.
extern "C" __attribute__((visibility("default"))) bool llama_memory_seq_rm(llama_memory_t memory, llama_seq_id sequence,
                                                                           llama_pos from, llama_pos to) {
  const auto next = reinterpret_cast<decltype(&llama_memory_seq_rm)>(dlsym(RTLD_NEXT, "llama_memory_seq_rm"));
  return from <= 0 && next(memory, sequence, from, to);
}

#elif defined(WASINN_SHIM_THREADS)

// Reports each call that computes: with how many threads it begins; at its end 0, and what it returned. Computes with
// one: llama.cpp's threads wait for each other in busy loops, for seconds if there are fewer cores.
extern "C" {
__attribute__((visibility("default"))) void (*wasinn_shim_decodes)(int threads, int32_t result) = nullptr;

__attribute__((visibility("default"))) int32_t llama_decode(llama_context* context, llama_batch batch) {
  static const auto next = reinterpret_cast<decltype(&llama_decode)>(dlsym(RTLD_NEXT, "llama_decode"));
  const auto report = wasinn_shim_decodes;
  if (report != nullptr) {
    report(batch.n_tokens > 1 ? llama_n_threads_batch(context) : llama_n_threads(context), 0);
    llama_set_n_threads(context, 1, 1);
  }
  const int32_t result = next(context, batch);
  if (report != nullptr) report(0, result);
  return result;
}
}

#endif
