#include "tflite/signature_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "common/error.h"
#include "tflite/schema.h"

namespace wasinn::tflite {

using backend::Error;

namespace {

bool CallsGraphs(const schema::Model& model) {
  const auto* const codes = model.codes();
  for (uint32_t i = 0; i < SizeOf(codes); ++i) {
    const int32_t code = std::max<int32_t>(codes->Get(i)->code(), codes->Get(i)->old_code());
    if (code == kIf || code == kWhile || code == kCallOnce) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> SignatureKeys(std::span<const uint8_t> bytes) {
  std::vector<std::string> keys;
  const auto* const signatures = schema::GetModel(bytes.data())->signatures();
  for (uint32_t i = 0; i < SizeOf(signatures); ++i) keys.emplace_back(TextOf(signatures->Get(i)->key()));
  return keys;
}

uint32_t GraphOf(std::span<const uint8_t> bytes, const std::string& key) {
  const schema::Model& model = *schema::GetModel(bytes.data());
  const std::vector<std::string> keys = SignatureKeys(bytes);
  const auto found = std::ranges::find(keys, key);
  if (found == keys.end()) {
    throw Error(WASINN_ERROR_INVALID_ARGUMENT,
                fmt::format("signature: expected one of the model's, '{}', found '{}'", fmt::join(keys, "', '"), key));
  }
  const uint32_t graph = model.signatures()->Get(static_cast<uint32_t>(found - keys.begin()))->graph();
  if (graph >= SizeOf(model.graphs()))
    throw Error(WASINN_ERROR_INVALID_ENCODING, "broken model: a signature without a graph");
  if (graph != 0 && CallsGraphs(model)) {
    throw Error(
        WASINN_ERROR_UNSUPPORTED_OPERATION,
        fmt::format("signature '{}' is not the first of the model, whose graphs call each other: export it alone",
                    key));
  }
  return graph;
}

// An offset counts from where it lies.
void MakeFirst(std::span<uint8_t> bytes, uint32_t graph) {
  const auto& graphs = *schema::GetModel(bytes.data())->graphs();
  uint8_t* const first = const_cast<uint8_t*>(graphs.Data());
  uint8_t* const other = first + graph * sizeof(flatbuffers::uoffset_t);
  const auto target = [](const uint8_t* at) { return at + flatbuffers::ReadScalar<flatbuffers::uoffset_t>(at); };
  const uint8_t* const of_first = target(first);
  const uint8_t* const of_other = target(other);
  if (of_first <= other || of_other <= first)
    throw Error(WASINN_ERROR_INVALID_ENCODING, "broken model: a graph lies in the list of graphs");
  flatbuffers::WriteScalar(first, static_cast<flatbuffers::uoffset_t>(of_other - first));
  flatbuffers::WriteScalar(other, static_cast<flatbuffers::uoffset_t>(of_first - other));
}

}  // namespace wasinn::tflite
