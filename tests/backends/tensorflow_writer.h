// Writes graphs as no tool of TensorFlow would.
#ifndef WASINN_TESTS_BACKENDS_TENSORFLOW_WRITER_H_
#define WASINN_TESTS_BACKENDS_TENSORFLOW_WRITER_H_

#include <cstdint>
#include <string>
#include <vector>

namespace wasinn::test {

inline std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

// A field of Protocol Buffers.
inline std::string NumberField(uint32_t number, uint64_t value) { return Varint(number << 3) + Varint(value); }
inline std::string BytesField(uint32_t number, const std::string& bytes) {
  return Varint(number << 3 | 2) + Varint(bytes.size()) + bytes;
}

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

// A TensorProto of floats whose one value fills the shape.
inline std::string FilledTensor(const std::vector<uint64_t>& dims) {
  std::string shape;
  for (const uint64_t dim : dims) shape += BytesField(2, NumberField(1, dim));
  return NumberField(1, 1) + BytesField(2, shape) + BytesField(5, std::string("\0\0\x80\x3f", 4));
}

}  // namespace wasinn::test

#endif  // WASINN_TESTS_BACKENDS_TENSORFLOW_WRITER_H_
