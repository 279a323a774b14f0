// Writes models in OpenVINO's IR.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace wasinn::test {

// An IR, layer by layer.
class Ir {
 public:
  // The output of a layer at one of its ports.
  struct Value {
    int layer = 0;
    int port = 0;
    std::string precision;
    int64_t size = 0;  // of its one dimension; 0: a scalar; -1: open
  };

  Value Parameter(int64_t size) {
    const std::string shape = size < 0 ? "?" : std::to_string(size);
    return Layer("Parameter", "shape=\"" + shape + R"(" element_type="f32")", {}, {F32(size)}).front();
  }
  // The weights' bytes, from the offset on.
  Value Floats(int64_t size, int64_t offset) { return Const("f32", F32(size), offset, 4 * size); }
  Value Int(int64_t offset) { return Const("i64", {.precision = "I64"}, offset, 8); }
  Value Relu(const Value& x) { return Layer("ReLU", "", {x}, {x}).front(); }
  Value Add(const Value& a, const Value& b) { return Layer("Add", R"(auto_broadcast="numpy")", {a, b}, {a}).front(); }
  // A tensor of a type that wasinn does not show.
  Value Narrow(const Value& x) {
    return Layer("Convert", R"(destination_type="u4")", {x}, {{.precision = "U4", .size = x.size}}).front();
  }
  // In halves, along an axis that is a scalar.
  std::vector<Value> Split(const Value& x, const Value& axis) {
    return Layer("Split", R"(num_splits="2")", {x, axis}, {F32(x.size / 2), F32(x.size / 2)});
  }
  void Result(const Value& value) { Layer("Result", "", {value}, {}); }

  std::string Xml() const {
    return R"(<?xml version="1.0"?><net name="made" version="11"><layers>)" + layers_ + "</layers><edges>" + edges_ +
           "</edges></net>";
  }

 private:
  static Value F32(int64_t size) { return {.precision = "FP32", .size = size}; }

  Value Const(const std::string& type, const Value& value, int64_t offset, int64_t bytes) {
    const std::string shape = value.size == 0 ? "" : std::to_string(value.size);
    return Layer("Const",
                 "element_type=\"" + type + "\" shape=\"" + shape + "\" offset=\"" + std::to_string(offset) +
                     "\" size=\"" + std::to_string(bytes) + "\"",
                 {}, {value})
        .front();
  }

  static std::string Port(int id, const Value& value) {
    const std::string dim = value.size == 0 ? "" : "<dim>" + std::to_string(value.size) + "</dim>";
    return "<port id=\"" + std::to_string(id) + "\" precision=\"" + value.precision + "\">" + dim + "</port>";
  }

  std::vector<Value> Layer(const std::string& type, const std::string& attributes, const std::vector<Value>& inputs,
                           std::vector<Value> outputs) {
    const std::string id = std::to_string(n_);
    int port = 0;
    std::string ports = inputs.empty() ? "" : "<input>";
    for (const Value& input : inputs) {
      edges_ += "<edge from-layer=\"" + std::to_string(input.layer) + "\" from-port=\"" + std::to_string(input.port) +
                "\" to-layer=\"" + id + "\" to-port=\"" + std::to_string(port) + "\" />";
      ports += Port(port++, input);
    }
    ports += inputs.empty() ? "" : "</input>";
    ports += outputs.empty() ? "" : "<output>";
    for (Value& output : outputs) {
      output.layer = n_;
      output.port = port++;
      ports += Port(output.port, output);
    }
    ports += outputs.empty() ? "" : "</output>";
    layers_ += "<layer id=\"" + id + "\" name=\"n" + id + "\" type=\"" + type + R"(" version="opset1"><data )" +
               attributes + " />" + ports + "</layer>";
    ++n_;
    return outputs;
  }

  int n_ = 0;
  std::string layers_, edges_;
};

// A model whose n outputs are its input, of an open shape.
inline std::string PassedOn(int n) {
  Ir ir;
  const Ir::Value x = ir.Parameter(-1);
  for (int i = 0; i < n; ++i) ir.Result(x);
  return ir.Xml();
}

}  // namespace wasinn::test
