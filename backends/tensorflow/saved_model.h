// Reads a SavedModel's saved_model.pb: its graphs and their signatures.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace wasinn::tensorflow {

// One input or output of a signature.
struct SignatureEntry {
  std::string name;    // that the signature gives it
  std::string tensor;  // "node:0"; empty: it is made of several tensors
  int type = 0;
  std::optional<std::vector<int64_t>> dims;  // -1: unknown; nullopt: even the rank is
};

struct NamedSignature {
  std::string name;
  std::vector<SignatureEntry> inputs, outputs;  // sorted by name
};

struct MetaGraph {
  std::vector<std::string> tags;
  std::span<const uint8_t> graph;  // a GraphDef, within the bytes that were read
  std::vector<NamedSignature> signatures;
};

// Whether the bytes begin as a SavedModel does, where a GraphDef has a node.
bool LooksLikeSavedModel(std::span<const uint8_t> bytes);

// Throws WASINN_ERROR_INVALID_ENCODING where the bytes are broken.
std::vector<MetaGraph> ReadSavedModel(std::span<const uint8_t> bytes);

// Throw WASINN_ERROR_INVALID_ARGUMENT that lists those that there are. Signatures whose name begins with "__"
// are TensorFlow's own and are not listed.
const MetaGraph& FindMetaGraph(const std::vector<MetaGraph>& graphs, std::span<const std::string> tags);
const NamedSignature& FindSignature(const MetaGraph& graph, const std::string& name);

}  // namespace wasinn::tensorflow
