// Writes models in OpenVINO's IR.
#ifndef WASINN_TESTS_BACKENDS_OPENVINO_WRITER_H_
#define WASINN_TESTS_BACKENDS_OPENVINO_WRITER_H_

#include <cstdint>
#include <string>
#include <vector>

namespace wasinn::test {

// A model whose n outputs are its input, of an open shape.
inline std::string PassedOn(int n) {
  const std::string port = R"(<port id="0" precision="FP32" names="x"><dim>-1</dim></port>)";
  std::string layers =
      R"(<layer id="0" name="x" type="Parameter" version="opset1"><data shape="?" element_type="f32" />)"
      "<output>" +
      port + "</output></layer>";
  std::string edges;
  for (int i = 1; i <= n; ++i) {
    const std::string id = std::to_string(i);
    layers += "<layer id=\"" + id + "\" name=\"r" + id + R"(" type="Result" version="opset1"><input>)" + port +
              "</input></layer>";
    edges += R"(<edge from-layer="0" from-port="0" to-layer=")" + id + R"(" to-port="0" />)";
  }
  return R"(<?xml version="1.0"?><net name="passed_on" version="11"><layers>)" + layers + "</layers><edges>" + edges +
         "</edges></net>";
}

// An IR of fixed shapes, layer by layer.
class Ir {
 public:
  // What a layer gives at one of its outputs.
  struct Value {
    int layer = 0;
    int port = 0;
    std::string precision;
    int64_t size = 0;  // of its one dimension; 0: a scalar
  };

  Value Parameter(int64_t size) {
    return Layer("Parameter", "shape=\"" + std::to_string(size) + R"(" element_type="f32")", {}, {F32(size)}).front();
  }
  // Of the weights' bytes, from the offset on.
  Value Floats(int64_t size, int64_t offset) { return Const("f32", F32(size), offset, 4 * size); }
  Value Int(int64_t offset) { return Const("i64", {.precision = "I64"}, offset, 8); }
  Value Relu(const Value& x) { return Layer("ReLU", "", {x}, {x}).front(); }
  Value Add(const Value& a, const Value& b) { return Layer("Add", R"(auto_broadcast="numpy")", {a, b}, {a}).front(); }
  // Of a type that wasinn does not show.
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

}  // namespace wasinn::test

#endif  // WASINN_TESTS_BACKENDS_OPENVINO_WRITER_H_
