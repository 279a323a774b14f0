#include "hostile/openvino_killers.h"

#include <cstdint>
#include <limits>

namespace wasinn::testing {
namespace {

template <typename T>
std::string Bytes(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

// Of one element; ports are numbered from 0 on, inputs first.
std::string Layer(int id, const std::string& type, const std::string& data, const std::vector<std::string>& inputs,
                  const std::string& output) {
  int ports = 0;
  const auto port = [&ports](const std::string& precision) {
    return "<port id=\"" + std::to_string(ports++) + "\" precision=\"" + precision + "\"><dim>1</dim></port>";
  };
  std::string layer = "<layer id=\"" + std::to_string(id) + "\" name=\"n" + std::to_string(id) + "\" type=\"" + type +
                      "\" version=\"opset1\"><data " + data + " />";
  if (!inputs.empty()) layer += "<input>";
  for (const std::string& input : inputs) layer += port(input);
  if (!inputs.empty()) layer += "</input>";
  if (!output.empty()) layer += "<output>" + port(output) + "</output>";
  return layer + "</layer>";
}

std::string Edge(int from, int from_port, int to, int to_port) {
  return "<edge from-layer=\"" + std::to_string(from) + "\" from-port=\"" + std::to_string(from_port) +
         "\" to-layer=\"" + std::to_string(to) + "\" to-port=\"" + std::to_string(to_port) + "\" />";
}

void Replace(std::string* text, const std::string& from, const std::string& to) {
  if (const size_t at = text->find(from); at != text->npos) text->replace(at, from.size(), to);
}

}  // namespace

std::vector<std::string> DividesOnOpenVino() {
  const std::string numpy = R"(auto_broadcast="numpy" m_pythondiv="false")";
  const std::string layers = Layer(0, "Parameter", R"(shape="1" element_type="f32")", {}, "FP32") +
                             Layer(1, "Const", R"(element_type="i32" shape="1" offset="0" size="4")", {}, "I32") +
                             Layer(2, "Const", R"(element_type="i32" shape="1" offset="4" size="4")", {}, "I32") +
                             Layer(3, "Divide", numpy, {"I32", "I32"}, "I32") +
                             Layer(4, "Convert", R"(destination_type="f32")", {"I32"}, "FP32") +
                             Layer(5, "Add", R"(auto_broadcast="numpy")", {"FP32", "FP32"}, "FP32") +
                             Layer(6, "Result", "", {"FP32"}, "");
  const std::string edges =
      Edge(1, 0, 3, 0) + Edge(2, 0, 3, 1) + Edge(3, 2, 4, 0) + Edge(0, 0, 5, 0) + Edge(4, 1, 5, 1) + Edge(5, 2, 6, 0);
  return {R"(<?xml version="1.0"?><net name="made" version="11"><layers>)" + layers + "</layers><edges>" + edges +
              "</edges></net>",
          Bytes(std::numeric_limits<int32_t>::min()) + Bytes(int32_t{-1})};
}

std::vector<std::string> EndlessLoopOnOpenVino(std::string xml, std::string weights) {
  // Its number of rounds is an input; here it is a constant.
  Replace(&xml, R"(type="Parameter" version="opset1">)", R"(type="Const" version="opset1">)");
  Replace(&xml, R"(<data shape="" element_type="i64" />)",
          R"(<data shape="" element_type="i64" offset="8" size="8" />)");
  weights.resize(8);
  return {std::move(xml), weights + Bytes(std::numeric_limits<int64_t>::max())};
}

}  // namespace wasinn::testing
