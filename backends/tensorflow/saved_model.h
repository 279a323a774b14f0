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
  std::string name;    // in the signature
  std::string tensor;  // "node:0"; empty: it consists of several tensors
  int type = 0;
  std::optional<std::vector<int64_t>> dims;  // -1: unknown; nullopt: even the rank is unknown
};

struct NamedSignature {
  std::string name;
  std::vector<SignatureEntry> inputs, outputs;  // sorted by name
};

struct MetaGraph {
  std::vector<std::string> tags;
  std::span<const uint8_t> graph;  // a GraphDef, within the scanned bytes
  std::vector<NamedSignature> signatures;
};

// Whether the bytes begin like a SavedModel, at a place where a GraphDef has a node.
bool LooksLikeSavedModel(std::span<const uint8_t> bytes);

// Throws WASINN_ERROR_INVALID_ENCODING if the bytes are broken.
std::vector<MetaGraph> ReadSavedModel(std::span<const uint8_t> bytes);

// They throw WASINN_ERROR_INVALID_ARGUMENT, which lists the existing ones. Signatures whose name begins with "__" are
// TensorFlow's own and are not listed.
const MetaGraph& FindMetaGraph(const std::vector<MetaGraph>& graphs, std::span<const std::string> tags);
const NamedSignature& FindSignature(const MetaGraph& graph, const std::string& name);

}  // namespace wasinn::tensorflow
