#include "tensorflow/saved_model.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/proto_reader.h"
#include "common/throw.h"

namespace wasinn::tensorflow {

using backend::Throw;
using base::ProtoField;

namespace {

// Calls `field_of` for each field of a message.
template <typename FieldOf>
void ForEachField(std::span<const uint8_t> message, const char* name, FieldOf&& field_of) {
  if (!base::ForEachField(message, field_of)) {
    Throw(WASINN_ERROR_INVALID_ENCODING, "the bytes are not a SavedModel of TensorFlow: broken {}", name);
  }
}

// Field numbers are those of saved_model.proto, meta_graph.proto and tensor_shape.proto.
void ReadDims(std::span<const uint8_t> bytes, SignatureEntry* entry) {
  entry->dims.emplace();
  bool unknown = false;
  ForEachField(bytes, "TensorShapeProto", [&](const ProtoField& field) {
    if (field.IsVarint(3)) unknown = field.value != 0;
    if (!field.IsBytes(2)) return;
    int64_t size = 0;
    ForEachField(field.bytes, "Dim", [&](const ProtoField& dim) {
      if (dim.IsVarint(1)) size = static_cast<int64_t>(dim.value);
    });
    entry->dims->push_back(std::max<int64_t>(size, -1));
  });
  if (unknown) entry->dims.reset();
}

SignatureEntry ReadTensorInfo(std::span<const uint8_t> entry_bytes) {
  SignatureEntry entry;
  ForEachField(entry_bytes, "TensorInfo entry", [&](const ProtoField& field) {
    if (field.IsBytes(1)) entry.name = field.text();
    if (!field.IsBytes(2)) return;
    ForEachField(field.bytes, "TensorInfo", [&](const ProtoField& info) {
      if (info.IsBytes(1)) entry.tensor = info.text();
      if (info.IsVarint(2)) entry.type = static_cast<int>(std::min<uint64_t>(info.value, INT32_MAX));
      if (info.IsBytes(3)) ReadDims(info.bytes, &entry);
    });
  });
  return entry;
}

NamedSignature ReadSignature(std::span<const uint8_t> entry_bytes) {
  NamedSignature signature;
  ForEachField(entry_bytes, "SignatureDef entry", [&](const ProtoField& field) {
    if (field.IsBytes(1)) signature.name = field.text();
    if (!field.IsBytes(2)) return;
    ForEachField(field.bytes, "SignatureDef", [&](const ProtoField& part) {
      if (part.IsBytes(1)) signature.inputs.push_back(ReadTensorInfo(part.bytes));
      if (part.IsBytes(2)) signature.outputs.push_back(ReadTensorInfo(part.bytes));
    });
  });
  std::ranges::sort(signature.inputs, {}, &SignatureEntry::name);
  std::ranges::sort(signature.outputs, {}, &SignatureEntry::name);
  return signature;
}

MetaGraph ReadMetaGraph(std::span<const uint8_t> bytes) {
  MetaGraph graph;
  ForEachField(bytes, "MetaGraphDef", [&](const ProtoField& field) {
    if (field.IsBytes(2)) graph.graph = field.bytes;
    if (field.IsBytes(5)) graph.signatures.push_back(ReadSignature(field.bytes));
    if (!field.IsBytes(1)) return;
    ForEachField(field.bytes, "MetaInfoDef", [&](const ProtoField& info) {
      if (info.IsBytes(4)) graph.tags.emplace_back(info.text());
    });
  });
  return graph;
}

}  // namespace

bool LooksLikeSavedModel(std::span<const uint8_t> bytes) {
  base::ProtoReader reader(bytes);
  ProtoField field;
  return reader.Next(&field) && field.IsVarint(1);
}

std::vector<MetaGraph> ReadSavedModel(std::span<const uint8_t> bytes) {
  std::vector<MetaGraph> graphs;
  ForEachField(bytes, "SavedModel", [&](const ProtoField& field) {
    if (field.IsBytes(2)) graphs.push_back(ReadMetaGraph(field.bytes));
  });
  return graphs;
}

const MetaGraph& FindMetaGraph(const std::vector<MetaGraph>& graphs, std::span<const std::string> tags) {
  const std::set<std::string> wanted(tags.begin(), tags.end());
  std::vector<std::string> found;
  for (const MetaGraph& graph : graphs) {
    if (std::set<std::string>(graph.tags.begin(), graph.tags.end()) == wanted) return graph;
    found.push_back(fmt::format("[{}]", fmt::join(graph.tags, ", ")));
  }
  Throw(WASINN_ERROR_INVALID_ARGUMENT, "the SavedModel has no graph with the tags [{}]: found {}",
        fmt::join(wanted, ", "), fmt::join(found, ", "));
}

const NamedSignature& FindSignature(const MetaGraph& graph, const std::string& name) {
  std::vector<std::string> found;
  const NamedSignature* first = nullptr;  // a map's order in the file is arbitrary
  for (const NamedSignature& signature : graph.signatures) {
    if (signature.name == (name.empty() ? "serving_default" : name)) return signature;
    if (signature.name.starts_with("__")) continue;
    found.push_back(signature.name);
    if (first == nullptr || signature.name < first->name) first = &signature;
  }
  if (name.empty() && first != nullptr) return *first;
  Throw(WASINN_ERROR_INVALID_ARGUMENT, "the SavedModel has no signature '{}': found {}", name, fmt::join(found, ", "));
}

}  // namespace wasinn::tensorflow
