#include "core/sniff.h"

#include <algorithm>
#include <optional>
#include <span>

namespace wasinn::core {
namespace {

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
struct Outermost {
  bool version_first = false, message_first = false, onnx_graph = false, meta_graph = false;
  uint64_t highest = 0;
};

// More tell nothing new, and each costs time that no deadline ends.
constexpr size_t kMostFields = size_t{1} << 20;

// Nothing: it is no message.
std::optional<Outermost> ReadOutermost(std::span<const uint8_t> bytes, uint64_t beyond) {
  Outermost seen;
  ProtobufReader reader(bytes, beyond);
  for (size_t n = 0; n < kMostFields && !reader.done(); ++n) {
    std::optional<Field> field = reader.Next();
    if (!field && reader.is_cut()) break;
    if (!field) return std::nullopt;
    if (field->number == 1) (field->wire_type == 0 ? seen.version_first : seen.message_first) = true;
    if (field->number == 7 && field->wire_type == 2) seen.onnx_graph = true;
    if (field->number == 2 && field->wire_type == 2) seen.meta_graph = true;
    seen.highest = std::max(seen.highest, field->number);
  }
  return seen;
}

}  // namespace

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

}  // namespace wasinn::core
