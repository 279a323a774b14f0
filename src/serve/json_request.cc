#include "serve/json_request.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <optional>
#include <type_traits>
#include <utility>

#include "serve/json_tensor.h"
#include "serve/tensor_shape.h"

namespace wasinn::serve {
namespace {

using simdjson::ondemand::object;
using simdjson::ondemand::value;

// More would be a way to make a server hold more than the body has.
constexpr size_t kMostTensors = 4096;

// simdjson throws what is no JSON, and what is of another type than expected.
class Reader {
 public:
  Reader(std::string_view body, size_t json_size) : body_(body), binary_(body.substr(json_size)) {}
  RestRequest Read(size_t json_size);

 private:
  void ReadInput(object input);
  void ReadOutput(object output);
  void ReadData(object input, InputTensor& tensor, uint64_t elements);
  void TakeBinary(uint64_t bytes, InputTensor& tensor);

  const std::string_view body_;
  std::string_view binary_;  // what no tensor has taken
  RestRequest request_;
};

// What `parameters` of an object has by this name, if it is there.
template <typename T>
std::optional<T> Parameter(object& of, std::string_view name) {
  object parameters;
  if (of.find_field_unordered("parameters").get_object().get(parameters) != simdjson::SUCCESS) return {};
  value found;
  if (parameters.find_field_unordered(name).get(found) != simdjson::SUCCESS) return {};
  return static_cast<T>(found);
}

template <typename T>
T OrThrow(Outcome<T> outcome) {
  if (!outcome) throw std::move(outcome.error());
  if constexpr (!std::is_void_v<T>) return *outcome;
}

uint64_t ReadShape(object& input, InputTensor& tensor) {
  for (auto dim : input["shape"].get_array()) OrThrow(AddDim(tensor, dim.get_int64()));
  return OrThrow(CountElements(tensor));
}

void Reader::TakeBinary(uint64_t bytes, InputTensor& tensor) {
  if (bytes > binary_.size()) {
    ThrowInvalid(fmt::format("input '{}' has {} bytes, of which only {} came", tensor.name, bytes, binary_.size()));
  }
  tensor.lent = {reinterpret_cast<const uint8_t*>(binary_.data()), bytes};
  binary_.remove_prefix(bytes);
}

void Reader::ReadData(object input, InputTensor& tensor, uint64_t elements) {
  JsonTensor data(tensor, elements);
  data.Read(input["data"].value());
}

void Reader::ReadInput(object input) {
  InputTensor& tensor = request_.infer.inputs.emplace_back();
  tensor.name = std::string_view(input["name"]);
  const std::string_view type = input["datatype"];
  tensor.datatype = FindDatatype(type);
  if (tensor.datatype == nullptr) ThrowInvalid(fmt::format("input '{}': '{}' is no datatype", tensor.name, type));
  const uint64_t elements = ReadShape(input, tensor);
  if (const auto bytes = Parameter<uint64_t>(input, "binary_data_size")) {
    TakeBinary(*bytes, tensor);
  } else {
    ReadData(input, tensor, elements);
  }
}

void Reader::ReadOutput(object output) {
  std::string name{std::string_view(output["name"])};
  if (Parameter<uint64_t>(output, "classification").value_or(0) > 0) {
    ThrowInvalid(fmt::format("output '{}': there is no classification here", name));
  }
  if (const auto binary = Parameter<bool>(output, "binary_data")) request_.is_binary[name] = *binary;
  request_.infer.outputs.push_back(std::move(name));
}

RestRequest Reader::Read(size_t json_size) {
  simdjson::ondemand::parser parser;
  const simdjson::padded_string text(body_.substr(0, json_size));
  auto document = parser.iterate(text);
  object root = document.get_object();
  if (auto id = root.find_field_unordered("id"); !id.error()) request_.id = std::string_view(id);
  if (const auto all = Parameter<bool>(root, "binary_data_output")) request_.all_binary = *all;
  for (auto input : root["inputs"].get_array()) {
    if (request_.infer.inputs.size() == kMostTensors) ThrowInvalid(fmt::format("more than {} inputs", kMostTensors));
    ReadInput(input.get_object());
  }
  if (!binary_.empty()) ThrowInvalid(fmt::format("{} bytes after the JSON belong to no input", binary_.size()));
  if (auto outputs = root.find_field_unordered("outputs"); !outputs.error()) {
    for (auto output : outputs.get_array()) {
      if (request_.infer.outputs.size() == kMostTensors)
        ThrowInvalid(fmt::format("more than {} outputs", kMostTensors));
      ReadOutput(output.get_object());
    }
  }
  return std::move(request_);
}

}  // namespace

Outcome<RestRequest> ReadRequest(std::string_view body, size_t json_size) {
  if (json_size > body.size()) {
    return std::unexpected(
        Invalid(fmt::format("the JSON has {} bytes, of which only {} came", json_size, body.size())));
  }
  try {
    return Reader(body, json_size).Read(json_size);
  } catch (Failure& failure) {
    return std::unexpected(std::move(failure));
  } catch (const simdjson::simdjson_error& error) {
    return std::unexpected(Invalid(fmt::format("the request is no inference request: {}", error.what())));
  }
}

}  // namespace wasinn::serve
