// Where the files of a model lie: a single file, or a folder in the layout that users of Triton and Wasmtime have.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/models/formats.h"
#include "core/status.h"

namespace wasinn::core {

// What a path that names something in an OCI registry begins with. Only the command, and `wasinn serve`, pull from there.
inline constexpr std::string_view kRegistry = "oci://";

struct ModelFiles {
  uint32_t version = 1;
  std::string encoding;            // by the files' names; "" if they do not tell
  std::vector<std::string> paths;  // one for each part, in the order of wasi-nn's builders
};

// `path` is one of
//  - a model file; an OpenVINO model.xml brings the model.bin beside it;
//  - a folder with model.onnx, model.xml (+ model.bin), model.pt (.pth, .torchscript, .jit, .ts), model.tflite,
//    model.pb, model.graphdef or model.gguf: version 1;
//  - a SavedModel of TensorFlow (a folder with saved_model.pb), or a folder with one in model.savedmodel/: version 1.
//    Its path is that of its saved_model.pb; the rest of it lies beside;
//  - likewise with the endings and files of any other format;
//  - a folder with numbered folders of that kind: NAME/1/model.onnx. All versions are returned, the highest last.
// `encoding` chooses where a folder has several formats; "" takes the first of `formats`.
Result<std::vector<ModelFiles>> FindModelFiles(const std::string& path, const std::string& encoding, Formats formats);

// Whether a model's first file is nothing without others beside it: a SavedModel's variables.
bool NeedsItsFolder(const std::string& file);

// Whether there is anything in a folder.
bool HasEntries(const std::string& folder);

// Changes if a file is written, replaced or removed: of these, or of all in `folder` ("": none) and below.
uint64_t StampOf(const std::vector<std::string>& files, const std::string& folder);

// The names of a folder's subfolders, sorted.
Result<std::vector<std::string>> FindFolders(const std::string& folder);

}  // namespace wasinn::core
