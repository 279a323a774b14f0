// Files next to a model that hold its weights (external data).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/mapped_file.h"
#include "onnx/ort_library.h"

namespace wasinn::onnx {

// ONNX Runtime maps them itself, so that weights are in memory once; it copies bytes that it gets, twice. But it
// refuses a file behind a link out of the model's folder (as in Hugging Face's cache): such a file is mapped here.
class ExternalFiles {
 public:
  // `names` are the model's, relative to `folder`. Throws NOT_FOUND for a missing file.
  ExternalFiles(const std::set<std::string>& names, const std::string& folder);

  // Passes the contents of files behind links, or of `all`, to a session that is about to be made. They must live until
  // it is. A model for the cache needs all: else the cached one would name these files.
  void AddTo(const OrtLibrary& library, OrtSessionOptions* options, bool all) const;

  // All contents, in the order of their names; empty if they exceed 1 GiB, or a file is outside of this folder.
  std::vector<std::span<const uint8_t>> contents() const;

 private:
  struct File {
    std::string name;
    std::filesystem::path path;
    uintmax_t size;
    std::shared_ptr<backend::MappedFile> mapping;  // of a file that is passed on
  };
  std::span<uint8_t> BytesOf(const File& file) const;

  std::vector<File> files_;
  mutable std::vector<std::shared_ptr<backend::MappedFile>> looked_at_;  // for contents()
};

}  // namespace wasinn::onnx
