// Writes models in OpenVINO's IR.
#ifndef WASINN_TESTS_BACKENDS_OPENVINO_WRITER_H_
#define WASINN_TESTS_BACKENDS_OPENVINO_WRITER_H_

#include <string>

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

}  // namespace wasinn::test

#endif  // WASINN_TESTS_BACKENDS_OPENVINO_WRITER_H_
