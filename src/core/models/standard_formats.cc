// The formats that wasi-nn has numbers for. If a folder has models of several formats, the first of these is taken.
#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "base/proto_reader.h"
#include "core/models/formats.h"

namespace wasinn::core {
namespace {

// ONNX and TensorFlow models are Protocol Buffers without a magic number; the types of their outermost fields differ.
// onnx.ModelProto: ir_version = 1 (varint), graph = 7. tensorflow.SavedModel: schema version = 1 (varint),
// meta_graphs = 2, no other. tensorflow.GraphDef: node = 1 (repeated message), library = 2, version = 3 (varint),
// versions = 4.
struct Outermost {
  bool version_first = false, message_first = false, onnx_graph = false, meta_graph = false;
  uint64_t highest = 0;
};

// More fields show nothing new, and no deadline ends the time that they cost.
constexpr size_t kMaxFields = size_t{1} << 20;

// No value: it is no message.
std::optional<Outermost> ReadOutermost(std::span<const uint8_t> bytes, uint64_t beyond) {
  Outermost seen;
  base::ProtoReader reader(bytes, beyond);
  base::ProtoField field;
  for (size_t n = 0; n < kMaxFields && reader.Next(&field); ++n) {
    if (field.number == 1) (field.IsVarint(1) ? seen.version_first : seen.message_first) = true;
    if (field.IsBytes(7)) seen.onnx_graph = true;
    if (field.IsBytes(2)) seen.meta_graph = true;
    seen.highest = std::max<uint64_t>(seen.highest, field.number);
  }
  if (reader.broken()) return std::nullopt;
  return seen;
}

// As wasinn_format::recognise. They read only the outermost structure of the bytes.
int32_t IsOnnx(const uint8_t* start, size_t n, uint64_t size) {
  const std::optional<Outermost> seen = ReadOutermost({start, n}, size - n);
  return seen && seen->version_first && !seen->message_first && seen->onnx_graph;
}

int32_t IsTensorFlow(const uint8_t* start, size_t n, uint64_t size) {
  const std::optional<Outermost> seen = ReadOutermost({start, n}, size - n);
  if (!seen || seen->version_first == seen->message_first) return 0;
  if (seen->message_first) return seen->highest <= 5;
  return seen->meta_graph && seen->highest == 2;
}

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

constexpr wasinn_format Format(const char* name, std::span<const char* const> endings,
                               std::span<const wasinn_magic> magics = {}) {
  wasinn_format format = {};
  format.struct_size = sizeof format;
  format.name = name;
  format.endings = endings.data();
  format.n_endings = endings.size();
  format.magics = magics.data();
  format.n_magics = magics.size();
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

std::string_view KindOfNoModel(std::span<const uint8_t> start) {
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  if (text.starts_with("LITERTLM")) {
    return "a bundle of LiteRT-LM (.litertlm), with a language model for LiteRT-LM's own program: wasinn takes "
           "language models as GGUF";
  }
  if (text.starts_with("\x89HDF\r\n")) {
    return "HDF5, in which Keras saves models (.h5): export it as a SavedModel (model.export)";
  }
  // Behind the length of a header in 8 bytes.
  if (text.size() > 9 && text.substr(4).starts_with(std::string_view("\0\0\0\0{\"", 6))) {
    return "safetensors, weights without a model: export the model with them (ONNX, GGUF)";
  }
  return "";
}

}  // namespace wasinn::core
