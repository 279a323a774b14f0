// Files beside a model that hold its weights (external data).
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

// ONNX Runtime maps them itself, so that weights are in memory once; what it is given it copies twice. But it refuses a
// file that a link leads out of the model's folder (as in Hugging Face's cache): such a file is mapped here, and given.
class ExternalFiles {
 public:
  // `names` are as the model has them, relative to `folder`. Throws NOT_FOUND for a file that is not there.
  ExternalFiles(const std::set<std::string>& names, const std::string& folder);

  // Gives the contents of those that links lead elsewhere, or of `all`, to a session that is about to be made. They must
  // live until it is. A model that is to be kept needs all: else the kept one would name these files.
  void AddTo(const OrtLibrary& library, OrtSessionOptions* options, bool all) const;

  // All contents, in the order of their names; empty if they are more than 1 GiB, or none of this folder.
  std::vector<std::span<const uint8_t>> contents() const;

 private:
  struct File {
    std::string name;
    std::filesystem::path path;
    uintmax_t size;
    std::shared_ptr<backend::MappedFile> mapping;  // of one that is given
  };
  std::span<uint8_t> BytesOf(const File& file) const;

  std::vector<File> files_;
  mutable std::vector<std::shared_ptr<backend::MappedFile>> looked_at_;  // beside those
};

}  // namespace wasinn::onnx
