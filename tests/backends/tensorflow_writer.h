// Writes graphs as no tool of TensorFlow would.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/proto_writer.h"

namespace wasinn::test {

// A field of Protocol Buffers.
inline std::string NumberField(uint32_t number, uint64_t value) { return Proto().Int(number, value).bytes(); }
inline std::string BytesField(uint32_t number, const std::string& bytes) { return Proto().Text(number, bytes).bytes(); }

inline std::string Attribute(const std::string& name, const std::string& value) {
  return BytesField(5, BytesField(1, name) + BytesField(2, value));
}
inline std::string TypeAttribute(const std::string& name, uint64_t type) {
  return Attribute(name, NumberField(6, type));
}
inline std::string FunctionAttribute(const std::string& name, const std::string& function) {
  return Attribute(name, BytesField(10, BytesField(1, function)));
}

// A NodeDef.
inline std::string TfNode(const std::string& name, const std::string& op, const std::vector<std::string>& inputs = {},
                          const std::string& attributes = "") {
  std::string bytes = BytesField(1, name) + BytesField(2, op);
  for (const std::string& input : inputs) bytes += BytesField(3, input);
  return bytes + attributes;
}

// A GraphDef.
inline std::string TfGraphOf(const std::vector<std::string>& nodes, const std::vector<std::string>& functions = {}) {
  std::string bytes, library;
  for (const std::string& node : nodes) bytes += BytesField(1, node);
  for (const std::string& function : functions) library += BytesField(1, function);
  if (!functions.empty()) bytes += BytesField(2, library);
  return bytes + BytesField(4, NumberField(1, 1882));  // VersionDef
}

// One with placeholder x, float of unknown shape.
inline std::string TfGraph(std::vector<std::string> nodes, const std::vector<std::string>& functions = {}) {
  nodes.insert(nodes.begin(), TfNode("x", "Placeholder", {}, TypeAttribute("dtype", 1)));
  return TfGraphOf(nodes, functions);
}

// A FunctionDef without arguments.
inline std::string TfFunction(const std::string& name, const std::vector<std::string>& nodes) {
  std::string bytes = BytesField(1, BytesField(1, name));
  for (const std::string& node : nodes) bytes += BytesField(3, node);
  return bytes;
}

// A vector of integers, which is constant.
inline std::string TfIntegers(const std::string& name, const std::vector<int32_t>& values) {
  const std::string dims = BytesField(2, BytesField(2, NumberField(1, values.size())));
  const std::string content(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(int32_t));
  return TfNode(
      name, "Const", {},
      TypeAttribute("dtype", 3) + Attribute("value", BytesField(8, NumberField(1, 3) + dims + BytesField(4, content))));
}

// A TensorProto of floats whose one value fills the shape.
inline std::string FilledTensor(const std::vector<uint64_t>& dims) {
  std::string shape;
  for (const uint64_t dim : dims) shape += BytesField(2, NumberField(1, dim));
  return NumberField(1, 1) + BytesField(2, shape) + BytesField(5, std::string("\0\0\x80\x3f", 4));
}

}  // namespace wasinn::test
