// Finds the files of a model: a single file, or a folder in the layout of Triton and Wasmtime.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/models/formats.h"
#include "core/status.h"

namespace wasinn::core {

// The beginning of a path that names an artifact in an OCI registry. Only `wasinn` and `wasinn serve` pull from there.
inline constexpr std::string_view kRegistry = "oci://";

struct ModelFiles {
  uint32_t version = 1;
  std::string encoding;            // by the files' names; "" if they are not clear
  std::vector<std::string> paths;  // one for each part, in the order of wasi-nn's builders
};

// `path` is one of
//   - a model file; an OpenVINO model.xml brings the model.bin next to it;
//   - a folder with model.onnx, model.xml (+ model.bin), model.pt (.pt2, .pth, .torchscript, .jit, .ts), model.tflite,
//     model.pb, model.graphdef or model.gguf: version 1;
//   - a SavedModel of TensorFlow (a folder with saved_model.pb), or a folder with one in model.savedmodel/: version 1.
//     Its path is that of its saved_model.pb; the other files are in the same folder;
//   - a folder with a file of any other format, by its endings and file names;
//   - a folder with numbered folders of that kind: NAME/1/model.onnx. All versions are returned, the highest last.
// `encoding` chooses if a folder has several formats; "" takes the first of `formats`.
Result<std::vector<ModelFiles>> FindModelFiles(const std::string& path, const std::string& encoding, Formats formats);

// Whether a model's first file is useless without others next to it: a SavedModel's variables.
bool NeedsItsFolder(const std::string& file);

// Whether a folder has any entry.
bool HasEntries(const std::string& folder);

// Changes if one of these files is written, replaced or removed, or any file in `folder` ("": none) and below.
uint64_t StampOf(const std::vector<std::string>& files, const std::string& folder);

// The names of a folder's subfolders, sorted.
Result<std::vector<std::string>> FindFolders(const std::string& folder);

}  // namespace wasinn::core
