#include "remote/json_request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <google/protobuf/io/coded_stream.h>
#include <grpc/slice.h>

#include <utility>

#include <nlohmann/json.hpp>

#include "common/error.h"
#include "remote/datatype.h"
#include "remote/json_elements.h"
#include "remote/request.h"

namespace wasinn::remote {

namespace {

// Signature has checked that names are UTF-8.
std::string Quote(const std::string& name) { return nlohmann::json(name).dump(); }

std::string InputHead(const Inputs::Input& input) {
  return fmt::format(R"({{"name":{},"datatype":{},"shape":[{}],)", Quote(input.port->name),
                     Quote(input.port->type_name), fmt::join(input.dims, ","));
}

std::string OutputsOf(std::span<const std::string> outputs, bool is_binary) {
  if (outputs.empty()) return is_binary ? R"(],"parameters":{"binary_data_output":true}})" : "]}";
  std::string text = R"(],"outputs":[)";
  for (const std::string& name : outputs) {
    text += fmt::format(R"({}{{"name":{}{}}})", &name == outputs.data() ? "" : ",", Quote(name),
                        is_binary ? R"(,"parameters":{"binary_data":true})" : "");
  }
  return text + "]}";
}

}  // namespace

JsonInference::JsonInference(std::string path, const Inputs& inputs, std::span<const std::string> outputs,
                             bool is_binary)
    : path_(std::move(path)), is_binary_(is_binary) {
  std::string text = R"({"id":"0","inputs":[)";  // without an id KServe's answer is invalid
  const char* between = "";
  for (const Inputs::Input* one : inputs.set()) {
    text += std::exchange(between, ",") + InputHead(*one);
    if (is_binary) {
      text += fmt::format(R"("parameters":{{"binary_data_size":{}}}}})", RawBytes(*one));
    } else {
      parts_.push_back({text + R"("data":)", one});
      text = "}";
    }
  }
  parts_.push_back({text + OutputsOf(outputs, is_binary), nullptr});
  head_ = parts_.front().text.size();  // before raw bytes
  if (is_binary) {
    for (const Inputs::Input* one : inputs.set()) parts_.push_back({"", one});
  }
  JsonSink counts;
  for (const Part& part : parts_) {
    counts.Append(part.text);
    if (part.input == nullptr) continue;
    is_binary ? bytes_ += RawBytes(*part.input) : (WriteJson(*part.input, counts), 0U);
  }
  bytes_ += counts.bytes();
}

Request JsonInference::Write() const {
  grpc_slice memory = grpc_slice_malloc(bytes_);
  grpc::Slice whole(memory, grpc::Slice::STEAL_REF);
  JsonSink sink({const_cast<uint8_t*>(whole.begin()), whole.size()});
  for (const Part& part : parts_) {
    sink.Append(part.text);
    if (part.input != nullptr) WriteInput(*part.input, sink);
  }
  const grpc::Slice slice = whole.sub(0, sink.bytes());
  Request request{.path = path_, .body = {&slice, 1}};
  if (is_binary_) {
    request.headers = {{"content-type", "application/octet-stream"},
                       {"inference-header-content-length", std::to_string(head_)}};
  } else {
    request.headers = {{"content-type", "application/json"}};
  }
  return request;
}

void JsonInference::WriteInput(const Inputs::Input& input, JsonSink& sink) const {
  if (!is_binary_) return WriteJson(input, sink);
  if (input.port->is_text) {
    uint8_t length[kLengthOfText];
    google::protobuf::io::CodedOutputStream::WriteLittleEndian32ToArray(static_cast<uint32_t>(input.bytes), length);
    sink.Append(length, sizeof length);
  }
  sink.Append(input.data, input.bytes);
}

}  // namespace wasinn::remote
