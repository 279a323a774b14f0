// Prompts with images and sounds.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/reservation.h"
#include "llama/media_library.h"
#include "llama/media_span.h"

namespace wasinn::llama {

class Model;
class Projector;

// A text, or a file in base64.
struct MediaPart {
  enum class Kind : uint8_t { kText, kImage, kSound };
  Kind kind = Kind::kText;
  std::string_view data;
};

// Tokens of a text, and embeddings of images and sounds, in order: in the list of tokens each token of these is
// LLAMA_TOKEN_NULL. Used by one thread at a time; another may call const functions while that one waits.
class MediaPrompt {
 public:
  // For a model with a projector. Decodes the files, and checks `cancelled` meanwhile. `account`: pays for the memory.
  // Throws WASINN_ERROR_INVALID_ARGUMENT for invalid files, WASINN_ERROR_TOO_LARGE for large ones,
  // WASINN_ERROR_PROMPT_TOO_LONG for more than `capacity` tokens, WASINN_ERROR_UNSUPPORTED_OPERATION for kinds that the
  // projector does not accept, WASINN_ERROR_TIMEOUT.
  MediaPrompt(const Model& model, std::span<const MediaPart> parts, size_t capacity, const std::atomic<bool>& cancelled,
              void* account);

  const std::vector<llama_token>& tokens() const { return tokens_; }
  // Its images and sounds; a large image may have several.
  std::span<const MediaSpan> spans() const { return spans_; }
  // The span of a token; spans().size(): text.
  size_t SpanAt(size_t token) const;
  // The beginning of the first span at or after `token`; tokens().size(): none.
  size_t NextBegin(size_t token) const;
  // The most tokens that must be evaluated together.
  size_t most_at_once() const { return most_at_once_; }
  bool is_at_once(size_t span) const { return chunks_[span].at_once; }

  // Computes embeddings of spans that end after `token`, unless they exist. Throws WASINN_ERROR_TIMEOUT,
  // WASINN_ERROR_TOO_LARGE, WASINN_ERROR_RUNTIME.
  void Encode(size_t token, const std::atomic<bool>& cancelled);
  // Embeddings: for each token as many numbers as the model's tokens have.
  const float* Numbers(size_t span) const { return chunks_[span].numbers.data(); }
  // Positions of a span that begins at `from`: one for each token, or four; first the first positions of all tokens.
  std::vector<llama_pos> Positions(size_t span, llama_pos from) const;
  bool is_mrope() const;

 private:
  struct Chunk {
    size_t index = 0;  // in the library's numbering
    bool at_once = false;
    backend::Reservation reservation;  // destroyed after them
    std::vector<float> numbers;
  };

  void Make(std::span<const MediaPart> parts, const std::atomic<bool>& cancelled);
  void List(size_t capacity);
  void EncodeOne(size_t span, const std::atomic<bool>& cancelled);

  const Model& model_;
  const Projector& projector_;
  void* const account_;
  backend::Reservation reservation_;  // destroyed after all
  MediaPtr media_;
  std::vector<llama_token> tokens_;
  std::vector<MediaSpan> spans_;
  std::vector<Chunk> chunks_;  // of the spans
  size_t most_at_once_ = 0;
};

// `prompt` may be NULL.
inline std::span<const MediaSpan> Spans(const MediaPrompt* prompt) {
  return prompt == nullptr ? std::span<const MediaSpan>() : prompt->spans();
}

}  // namespace wasinn::llama
