// The formats that wasi-nn has numbers for. If a folder has models of several formats, the first of these is taken.
#include <array>

#include "core/models/formats.h"
#include "core/models/sniff.h"

namespace wasinn::core {
namespace {

constexpr const char* kOnnxEndings[] = {".onnx", ".ort"};
constexpr wasinn_magic kOnnxMagics[] = {{4, 4, "ORTM"}};  // for ONNX Runtime's own format
constexpr const char* kOpenVinoEndings[] = {".xml"};
constexpr wasinn_magic kOpenVinoMagics[] = {{0, 5, "<?xml"}, {0, 4, "<net"}};
constexpr const char* kPyTorchEndings[] = {".pt", ".pt2", ".pth", ".torchscript", ".jit", ".ts"};
constexpr wasinn_magic kPyTorchMagics[] = {{0, 4, "PK\x03\x04"}};
constexpr const char* kTensorFlowLiteEndings[] = {".tflite"};
constexpr wasinn_magic kTensorFlowLiteMagics[] = {{4, 4, "TFL3"}};
constexpr const char* kTensorFlowEndings[] = {".pb", ".graphdef"};
constexpr const char* kTensorFlowFiles[] = {"saved_model.pb", "model.savedmodel/saved_model.pb"};
constexpr const char* kGgmlEndings[] = {".gguf"};
constexpr wasinn_magic kGgmlMagics[] = {{0, 4, "GGUF"}};

constexpr wasinn_format Format(const char* name) {
  wasinn_format format = {};
  format.struct_size = sizeof format;
  format.name = name;
  return format;
}

template <size_t kEndings>
constexpr wasinn_format Format(const char* name, const char* const (&endings)[kEndings]) {
  wasinn_format format = Format(name);
  format.endings = endings;
  format.n_endings = kEndings;
  return format;
}

template <size_t kEndings, size_t kMagics>
constexpr wasinn_format Format(const char* name, const char* const (&endings)[kEndings],
                               const wasinn_magic (&magics)[kMagics]) {
  wasinn_format format = Format(name, endings);
  format.magics = magics;
  format.n_magics = kMagics;
  return format;
}

constexpr std::array kStandard = [] {
  std::array formats = {Format("onnx", kOnnxEndings, kOnnxMagics),
                        Format("openvino", kOpenVinoEndings, kOpenVinoMagics),
                        Format("pytorch", kPyTorchEndings, kPyTorchMagics),
                        Format("tensorflowlite", kTensorFlowLiteEndings, kTensorFlowLiteMagics),
                        Format("tensorflow", kTensorFlowEndings),
                        Format("ggml", kGgmlEndings, kGgmlMagics)};
  formats[0].recognise = IsOnnx;
  formats[1].companion = ".bin";
  formats[4].recognise = IsTensorFlow;
  formats[4].files = kTensorFlowFiles;
  formats[4].n_files = std::size(kTensorFlowFiles);
  formats[5].flags = WASINN_FORMAT_MAPPED;
  return formats;
}();

}  // namespace

Formats StandardFormats() { return kStandard; }

}  // namespace wasinn::core
