#include "core/sniff.h"

#include <cstring>
#include <string>
#include <utility>

namespace wasinn::core {
namespace {

bool HasAt(std::span<const uint8_t> bytes, size_t offset, std::string_view magic) {
  return bytes.size() >= offset + magic.size() && std::memcmp(bytes.data() + offset, magic.data(), magic.size()) == 0;
}

// One field of a Protocol Buffers message: https://protobuf.dev/programming-guides/encoding/
struct Field {
  uint64_t number;
  unsigned wire_type;
};

// Walks over the fields of one message, skipping their contents.
class ProtobufReader {
 public:
  // Of the bytes, `beyond` more are not here.
  ProtobufReader(std::span<const uint8_t> bytes, uint64_t beyond) : rest_(bytes), beyond_(beyond) {}

  bool done() const { return rest_.empty(); }
  // What could not be read may be whole, beyond what is here.
  bool is_cut() const { return rest_.empty() && beyond_ > 0; }
  std::optional<Field> Next() {
    std::optional<uint64_t> key = Varint();
    if (!key || *key >> 3 == 0) return std::nullopt;
    Field field{*key >> 3, static_cast<unsigned>(*key & 7)};
    if (!SkipContent(field.wire_type)) return std::nullopt;
    return field;
  }

 private:
  std::optional<uint64_t> Varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const uint8_t byte = rest_.front();
      rest_ = rest_.subspan(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }
  bool Skip(uint64_t size) {
    if (size <= rest_.size()) {
      rest_ = rest_.subspan(size);
      return true;
    }
    if (size - rest_.size() > beyond_) return false;
    rest_ = {};
    return true;
  }
  bool SkipContent(unsigned wire_type) {
    switch (wire_type) {
      case 0:
        return Varint().has_value();
      case 1:
        return Skip(8);
      case 2: {
        std::optional<uint64_t> size = Varint();
        return size && Skip(*size);
      }
      case 5:
        return Skip(4);
      default:
        return false;
    }
  }

  std::span<const uint8_t> rest_;
  const uint64_t beyond_;
};

// ONNX and TensorFlow models are Protocol Buffers without a magic number; the types of their outermost fields tell them
// apart. onnx.ModelProto: ir_version = 1 (varint), graph = 7. tensorflow.SavedModel: schema version = 1 (varint),
// meta_graphs = 2, no other. tensorflow.GraphDef: node = 1 (repeated message), library = 2, version = 3 (varint),
// versions = 4.
std::optional<wasinn_encoding> SniffProtobuf(std::span<const uint8_t> bytes, uint64_t beyond) {
  bool version_first = false, message_first = false, onnx_graph = false, meta_graph = false;
  uint64_t highest = 0;
  ProtobufReader reader(bytes, beyond);
  while (!reader.done()) {
    std::optional<Field> field = reader.Next();
    if (!field && reader.is_cut()) break;
    if (!field) return std::nullopt;
    if (field->number == 1) (field->wire_type == 0 ? version_first : message_first) = true;
    if (field->number == 7 && field->wire_type == 2) onnx_graph = true;
    if (field->number == 2 && field->wire_type == 2) meta_graph = true;
    highest = std::max(highest, field->number);
  }
  if (version_first && !message_first && onnx_graph) return WASINN_ONNX;
  if (version_first && !message_first && meta_graph && highest == 2) return WASINN_TENSORFLOW;
  if (message_first && !version_first && highest <= 5) return WASINN_TENSORFLOW;
  return std::nullopt;
}

}  // namespace

std::optional<wasinn_encoding> SniffEncoding(std::span<const uint8_t> bytes) { return SniffStart(bytes, bytes.size()); }

std::optional<wasinn_encoding> SniffStart(std::span<const uint8_t> bytes, uint64_t size) {
  if (HasAt(bytes, 0, "GGUF")) return WASINN_GGML;
  if (HasAt(bytes, 4, "TFL3")) return WASINN_TENSORFLOWLITE;
  if (HasAt(bytes, 4, "ORTM")) return WASINN_ONNX;  // in ONNX Runtime's own format
  if (HasAt(bytes, 0, "PK\x03\x04")) return WASINN_PYTORCH;
  if (HasAt(bytes, 0, "<?xml") || HasAt(bytes, 0, "<net")) return WASINN_OPENVINO;
  return SniffProtobuf(bytes, size - bytes.size());
}

std::optional<wasinn_encoding> EncodingOfFileName(std::string_view name) {
  static constexpr std::pair<std::string_view, wasinn_encoding> kExtensions[] = {
      {".onnx", WASINN_ONNX},   {".xml", WASINN_OPENVINO},          {".pb", WASINN_TENSORFLOW},
      {".pt", WASINN_PYTORCH},  {".tflite", WASINN_TENSORFLOWLITE}, {".gguf", WASINN_GGML},
      {".ort", WASINN_ONNX},    {".graphdef", WASINN_TENSORFLOW},   {".torchscript", WASINN_PYTORCH},
      {".pth", WASINN_PYTORCH}, {".jit", WASINN_PYTORCH},           {".ts", WASINN_PYTORCH},
  };
  for (const auto& [extension, encoding] : kExtensions) {
    if (name.ends_with(extension)) return encoding;
  }
  return std::nullopt;
}

}  // namespace wasinn::core
