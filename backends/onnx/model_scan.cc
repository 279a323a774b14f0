#include "onnx/model_scan.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/proto_reader.h"
#include "common/throw.h"

namespace wasinn::onnx {

using backend::Throw;
using base::ProtoField;
using base::ProtoReader;

namespace {

// The messages of onnx.proto that lead to tensors.
enum class Message : uint8_t { kModel, kGraph, kNode, kAttribute, kTensor, kSparseTensor, kTraining, kFunction };

struct Child {
  Message in;
  uint8_t number;
  Message message;
};
constexpr Child kChildren[] = {
    {Message::kModel, 7, Message::kGraph},
    {Message::kModel, 20, Message::kTraining},
    {Message::kModel, 25, Message::kFunction},
    {Message::kGraph, 1, Message::kNode},
    {Message::kGraph, 5, Message::kTensor},
    {Message::kGraph, 15, Message::kSparseTensor},
    {Message::kNode, 5, Message::kAttribute},
    {Message::kAttribute, 5, Message::kTensor},
    {Message::kAttribute, 6, Message::kGraph},
    {Message::kAttribute, 10, Message::kTensor},
    {Message::kAttribute, 11, Message::kGraph},
    {Message::kAttribute, 22, Message::kSparseTensor},
    {Message::kAttribute, 23, Message::kSparseTensor},
    {Message::kSparseTensor, 1, Message::kTensor},
    {Message::kSparseTensor, 2, Message::kTensor},
    {Message::kTraining, 1, Message::kGraph},
    {Message::kTraining, 2, Message::kGraph},
    {Message::kFunction, 7, Message::kNode},
    {Message::kFunction, 11, Message::kAttribute},
};

[[noreturn]] void Broken(const char* what) {
  Throw(WASINN_ERROR_INVALID_ENCODING, "the bytes are not an ONNX model: {}", what);
}

// The field of a message that has bytes; the last one counts. Empty: there is none.
std::optional<std::span<const uint8_t>> Find(std::span<const uint8_t> message, uint32_t number) {
  std::optional<std::span<const uint8_t>> found;
  base::ForEachField(message, [&](const ProtoField& field) {
    if (field.IsBytes(number)) found = field.bytes;
  });
  return found;
}

std::string_view TextIn(std::span<const uint8_t> message, uint32_t number) {
  const auto bytes = Find(message, number).value_or(std::span<const uint8_t>());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// For a ValueInfoProto: its type's tensor type may have a shape.
bool HasShape(std::span<const uint8_t> value) {
  const auto type = Find(value, 2);
  const auto tensor = type ? Find(*type, 1) : std::nullopt;
  return tensor && Find(*tensor, 2);
}

// For all maps of a model together. One class is a byte in a file, and more than a hundred here.
constexpr size_t kMaxClasses = 1 << 16;

// Numbers of a repeated field, packed or one by one.
void AppendNumbers(const ProtoField& field, std::vector<std::string>& to) {
  if (field.type == ProtoField::Type::kVarint) to.push_back(std::to_string(static_cast<int64_t>(field.value)));
  if (field.type != ProtoField::Type::kBytes) return;
  uint64_t number = 0;
  int shift = 0;
  for (const uint8_t byte : field.bytes) {
    if (to.size() > kMaxClasses) return;
    if (shift < 64) number |= uint64_t{byte & 0x7fU} << shift;
    shift += 7;
    if (byte >= 0x80) continue;
    to.push_back(std::to_string(static_cast<int64_t>(number)));
    number = 0;
    shift = 0;
  }
}

// The classes of a ZipMap node, in one of two attributes; at most kMaxClasses + 1.
Classes ClassesOf(std::span<const uint8_t> node) {
  Classes classes;
  ProtoReader attributes(node);
  for (ProtoField attribute; attributes.Next(&attribute);) {
    if (!attribute.IsBytes(5)) continue;
    const std::string_view name = TextIn(attribute.bytes, 1);
    ProtoReader values(attribute.bytes);
    for (ProtoField value; classes.names.size() <= kMaxClasses && values.Next(&value);) {
      if (name == "classlabels_int64s" && value.number == 8) AppendNumbers(value, classes.names);
      if (name != "classlabels_strings" || !value.IsBytes(9)) continue;
      classes.names.emplace_back(value.text());
      classes.are_texts = true;
    }
  }
  return classes;
}

size_t InputCount(std::span<const uint8_t> node) {
  size_t count = 0;
  base::ForEachField(node, [&](const ProtoField& field) { count += field.IsBytes(1) ? 1 : 0; });
  return count;
}

class Scanner {
 public:
  explicit Scanner(Trust trust) : guest_(trust == Trust::kGuest) {}

  ModelScan Scan(std::span<const uint8_t> bytes) {
    Read(Message::kModel, bytes, 0);
    if (!has_graph_) Broken("there is no graph in it");
    return std::move(scan_);
  }

 private:
  // The limit of Protocol Buffers.
  static constexpr int kMaxDepth = 100;

  void Read(Message kind, std::span<const uint8_t> bytes, int depth) {
    if (depth > kMaxDepth) Broken("its messages are nested too deeply");
    ProtoReader reader(bytes);
    for (ProtoField field; reader.Next(&field);) {
      const bool is_bytes = field.type == ProtoField::Type::kBytes;
      const auto* child = std::ranges::find_if(
          kChildren, [&](const Child& one) { return one.in == kind && one.number == field.number; });
      if (is_bytes && child != std::end(kChildren)) {
        Read(child->message, field.bytes, depth + 1);
        if (child->message == Message::kNode && kind == Message::kGraph && depth == 1) AddNode(field.bytes);
      } else if (is_bytes) {
        Note(kind, field, depth);
      } else if (kind == Message::kTensor && field.number == 14 && field.value != 0) {
        RefuseFiles("a tensor of the model is stored outside of it (external data)");  // data_location
      }
    }
    if (reader.broken()) Broken("a field is cut off, or of an unknown kind");
    if (kind == Message::kGraph) has_graph_ = true;
  }

  void Note(Message kind, const ProtoField& field, int depth) {
    const uint32_t number = field.number;
    if (kind == Message::kNode && number == 4 && field.text() == "EPContext") {
      RefuseFiles("a node of the model (EPContext) is compiled code, which may be stored outside of it");
    } else if (kind == Message::kGraph && depth == 1 && (number == 11 || number == 12)) {  // inputs, outputs
      if (HasShape(field.bytes)) scan_.ranked.emplace_back(TextIn(field.bytes, 1));
    } else if (kind == Message::kTensor && number == 13) {  // external_data: keys and values
      RefuseFiles("a tensor of the model is stored outside of it (external data)");
      if (TextIn(field.bytes, 1) == "location") scan_.external_files.emplace(TextIn(field.bytes, 2));
    } else if (kind == Message::kModel && number == 14 && TextIn(field.bytes, 1) == "ort_config") {
      // With a certain environment, ONNX Runtime takes session options from here, among them files to write.
      RefuseFiles("the model's metadata hold session options (ort_config), which only a host may set");
    }
  }

  // A node of the main graph.
  void AddNode(std::span<const uint8_t> node) {
    const std::string_view name = TextIn(node, 4), domain = TextIn(node, 7);
    if (name == "ZipMap") AddClasses(node);
    if (name != "SequenceConstruct" || !(domain.empty() || domain == "ai.onnx")) return;
    scan_.sequences[std::string(TextIn(node, 2))] = InputCount(node);
  }

  // Maps of more classes stay maps, which are no tensors.
  void AddClasses(std::span<const uint8_t> node) {
    Classes classes = ClassesOf(node);
    n_classes_ += classes.names.size();
    if (n_classes_ <= kMaxClasses) scan_.classes[std::string(TextIn(node, 2))] = std::move(classes);
  }

  void RefuseFiles(const char* what) const {
    if (guest_) Throw(WASINN_ERROR_SECURITY, "{}: a model from bytes or in a worker must be whole", what);
  }

  const bool guest_;
  bool has_graph_ = false;
  size_t n_classes_ = 0;
  ModelScan scan_;
};

// ONNX Runtime's own format, which names no files.
bool IsOrtFormat(std::span<const uint8_t> bytes) {
  constexpr std::string_view kIdentifier = "ORTM";
  constexpr size_t kOffset = 4;
  return bytes.size() >= kOffset + kIdentifier.size() &&
         std::equal(kIdentifier.begin(), kIdentifier.end(), bytes.begin() + kOffset);
}

}  // namespace

ModelScan ScanModel(std::span<const uint8_t> bytes, Trust trust) {
  if (bytes.empty()) Broken("there are none");
  // The size of a message is an int.
  if (bytes.size() > INT32_MAX) {
    Throw(WASINN_ERROR_INVALID_ENCODING,
          "the bytes are not an ONNX model: expected less than 2 GiB, found {} bytes (weights can be stored in other "
          "files)",
          bytes.size());
  }
  return IsOrtFormat(bytes) ? ModelScan() : Scanner(trust).Scan(bytes);
}

}  // namespace wasinn::onnx
