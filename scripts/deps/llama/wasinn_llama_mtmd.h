/* Images and sounds for language models (libwasinn_llama_mtmd.so): llama.cpp's mtmd, which no library of the package has, compiled from its
 * sources, with decoders of files around it. In C, so that no exception and no C++ object crosses it. The library has mtmd.h's functions, too.
 */
#ifndef WASINN_LLAMA_MTMD_H_
#define WASINN_LLAMA_MTMD_H_

#include <llama.h>
#include "wasinn_llama_common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of all projectors. */
void wasinn_llama_mtmd_log(ggml_log_callback log, void* user);

/* A projector file, for one model. Any number of threads at a time, but where it says otherwise. */
typedef struct wasinn_llama_projector wasinn_llama_projector;
typedef struct wasinn_llama_projector_options {
  const char* path;
  const struct llama_model* model;
  int gpu;              /* whether the encoder runs there */
  int image_min_tokens; /* of models whose images have any number of them; -1: as the file says */
  int image_max_tokens;
  /* Whether to go on, while it loads. */
  bool (*go_on)(float progress, void* user);
  void* user;
} wasinn_llama_projector_options;
/* NULL: the log says why. */
wasinn_llama_projector* wasinn_llama_projector_new(const wasinn_llama_projector_options* options);
void wasinn_llama_projector_free(wasinn_llama_projector* projector);
int wasinn_llama_projector_sees(const wasinn_llama_projector* projector);
int wasinn_llama_projector_hears(const wasinn_llama_projector* projector);
/* Whether a token has four positions, and those of an image are fewer than its tokens. */
int wasinn_llama_projector_is_mrope(const wasinn_llama_projector* projector);

/* A prompt of texts, images and sounds. One thread at a time. */
typedef struct wasinn_llama_media wasinn_llama_media;
enum { WASINN_LLAMA_TEXT = 0, WASINN_LLAMA_IMAGE = 1, WASINN_LLAMA_SOUND = 2 };
typedef struct wasinn_llama_part {
  int kind;
  const char* data; /* UTF-8, or a file in base64 */
  size_t size;
} wasinn_llama_part;
/* The first part's text gets what the tokenizer puts before one, and so on. */
int wasinn_llama_media_new(const wasinn_llama_projector* projector, const wasinn_llama_part* parts, size_t count,
                           wasinn_llama_call* call, wasinn_llama_media** out);
void wasinn_llama_media_free(wasinn_llama_media* media);

/* What the parts became, in the order in which a model reads it. */
typedef struct wasinn_llama_chunk {
  int kind;
  const int32_t* tokens; /* of a text, otherwise NULL */
  const uint8_t* digest; /* SHA-256 of the file that it is of; one may become several chunks */
  size_t count;          /* of its tokens */
  int32_t positions;     /* that it takes; of an image with four of them fewer than tokens */
  int all_at_once;       /* whether its tokens see each other: they must be evaluated together, without a causal mask */
} wasinn_llama_chunk;
size_t wasinn_llama_media_size(const wasinn_llama_media* media);
void wasinn_llama_media_chunk(const wasinn_llama_media* media, size_t index, wasinn_llama_chunk* chunk);
/* Of a chunk that begins at position `from`: one for each token, or with four of them first all tokens' first ones, and so on. */
void wasinn_llama_media_positions(const wasinn_llama_media* media, size_t index, int32_t from, int32_t* positions);
/* What a model reads in place of tokens: for each as many numbers as llama_model_n_embd_inp says. One thread at a time for each projector. */
int wasinn_llama_media_encode(wasinn_llama_media* media, size_t index, int threads, float* numbers,
                              wasinn_llama_call* call);

#ifdef __cplusplus
}
#endif

#endif /* WASINN_LLAMA_MTMD_H_ */
