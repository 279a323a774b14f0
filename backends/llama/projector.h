// A projector turns images and sounds into a model's embeddings.
#pragma once

#include <wasinn/backend.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "llama/media_library.h"

namespace wasinn::llama {

class Model;

// From the host's configuration.
struct ProjectorSettings {
  std::string path;                             // empty: none
  int32_t least_tokens = -1, most_tokens = -1;  // for an image; -1: as in the file
};

// A projector file (mmproj) of the host, for one model. Thread-safe.
class Projector {
 public:
  // Throws WASINN_ERROR_INVALID_ARGUMENT for an invalid file or another model's; WASINN_ERROR_UNSUPPORTED_OPERATION if
  // the library is missing; WASINN_ERROR_TIMEOUT.
  Projector(const Model& model, const ProjectorSettings& settings, const wasinn_load_options& options);
  Projector(const Projector&) = delete;
  Projector& operator=(const Projector&) = delete;

  bool sees() const { return library_.sees(projector_.get()) != 0; }
  bool hears() const { return library_.hears(projector_.get()) != 0; }
  // A token has four positions, and an image fewer positions than tokens.
  bool is_mrope() const { return is_mrope_; }

  const MediaLibrary& library() const { return library_; }
  const wasinn_llama_projector* get() const { return projector_.get(); }

  // Waits until no other call encodes. Throws WASINN_ERROR_TIMEOUT.
  std::unique_lock<std::timed_mutex> Turn(const std::atomic<bool>& cancelled) const;

 private:
  const MediaLibrary library_;
  ProjectorPtr projector_;
  bool is_mrope_ = false;
  mutable std::timed_mutex encoding_;
};

}  // namespace wasinn::llama
