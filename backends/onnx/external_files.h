// Files beside a model that hold its weights (external data).
#ifndef WASINN_BACKENDS_ONNX_EXTERNAL_FILES_H_
#define WASINN_BACKENDS_ONNX_EXTERNAL_FILES_H_

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "onnx/ort_library.h"

namespace wasinn::onnx {

// Reads the files whole, since ONNX Runtime maps them: whoever truncates a mapped file kills every guest of the
// process. Files of more than 1 GiB together are left to ONNX Runtime all the same, which would otherwise copy them
// into a message of at most 2 GiB.
class ExternalFiles {
 public:
  // `names` are as the model has them, relative to `folder`. Throws NOT_FOUND for a file that is not there.
  ExternalFiles(const std::set<std::string>& names, const std::string& folder);

  // Gives the contents to a session that is about to be made. They must live until it is.
  void AddTo(const OrtLibrary& library, OrtSessionOptions* options) const;

  // The contents, in the order of their names; empty where they were left to ONNX Runtime.
  std::vector<std::span<const uint8_t>> contents() const;

 private:
  struct File {
    std::string name;
    std::vector<char> bytes;
  };
  std::vector<File> files_;
};

}  // namespace wasinn::onnx

#endif  // WASINN_BACKENDS_ONNX_EXTERNAL_FILES_H_
