// llama.cpp's mtmd, and decoders of images and sounds.
#pragma once

#include <wasinn_llama_mtmd.h>

#include <memory>
#include <string>

namespace wasinn::llama {

// All functions in use, as (member, function).
#define WASINN_MEDIA_FUNCTIONS(X)                  \
  X(set_log, wasinn_llama_mtmd_log)                \
  X(projector_new, wasinn_llama_projector_new)     \
  X(projector_free, wasinn_llama_projector_free)   \
  X(sees, wasinn_llama_projector_sees)             \
  X(hears, wasinn_llama_projector_hears)           \
  X(is_mrope, wasinn_llama_projector_is_mrope)     \
  X(media_new, wasinn_llama_media_new)             \
  X(media_free, wasinn_llama_media_free)           \
  X(media_size, wasinn_llama_media_size)           \
  X(media_chunk, wasinn_llama_media_chunk)         \
  X(media_positions, wasinn_llama_media_positions) \
  X(media_encode, wasinn_llama_media_encode)

// A library next to llama.cpp's (scripts/deps/llama), opened by the first model with a projector and never closed.
// Thread-safe.
class MediaLibrary {
 public:
  // `library`: the path of llama.cpp's library. Throws WASINN_ERROR_UNSUPPORTED_OPERATION if it is missing.
  explicit MediaLibrary(const std::string& library);

#define WASINN_MEMBER(member, function) decltype(&::function) member = nullptr;  // NOLINT(bugprone-macro-parentheses)
  WASINN_MEDIA_FUNCTIONS(WASINN_MEMBER)
#undef WASINN_MEMBER
};

struct FreeProjector {
  const MediaLibrary* library;
  void operator()(wasinn_llama_projector* projector) const { library->projector_free(projector); }
};
using ProjectorPtr = std::unique_ptr<wasinn_llama_projector, FreeProjector>;

struct FreeMedia {
  const MediaLibrary* library;
  void operator()(wasinn_llama_media* media) const { library->media_free(media); }
};
using MediaPtr = std::unique_ptr<wasinn_llama_media, FreeMedia>;

}  // namespace wasinn::llama
