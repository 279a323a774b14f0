#include "serve/grpc_tensors.h"

#include <fmt/format.h>

#include <limits>

#include "serve/bytes.h"
#include "serve/tensor_shape.h"

namespace wasinn::serve {
namespace {

using Input = inference::ModelInferRequest::InferInputTensor;

// Numbers that travel as wider ones.
template <typename T>
Outcome<void> Append(const auto& numbers, InputTensor& tensor) {
  for (const auto number : numbers) {
    if (!std::in_range<T>(number)) {
      return std::unexpected(
          Invalid(fmt::format("input '{}': {} is no {}", tensor.name, number, tensor.datatype->name)));
    }
    const auto element = static_cast<T>(number);
    tensor.own.append(reinterpret_cast<const char*>(&element), sizeof element);
  }
  return {};
}

template <typename T>
Outcome<void> AppendSame(const google::protobuf::RepeatedField<T>& numbers, InputTensor& tensor) {
  tensor.own.assign(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T));
  return {};
}

Outcome<void> AppendTexts(const inference::InferTensorContents& contents, InputTensor& tensor) {
  for (const std::string& text : contents.bytes_contents()) {
    AppendElement(tensor.own, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  }
  return {};
}

Outcome<void> Read(const inference::InferTensorContents& contents, InputTensor& tensor) {
  switch (tensor.datatype->dtype) {
    case WASINN_BOOL:
      return AppendSame(contents.bool_contents(), tensor);
    case WASINN_I8:
      return Append<int8_t>(contents.int_contents(), tensor);
    case WASINN_I16:
      return Append<int16_t>(contents.int_contents(), tensor);
    case WASINN_I32:
      return AppendSame(contents.int_contents(), tensor);
    case WASINN_I64:
      return AppendSame(contents.int64_contents(), tensor);
    case WASINN_U8:
      return Append<uint8_t>(contents.uint_contents(), tensor);
    case WASINN_U16:
      return Append<uint16_t>(contents.uint_contents(), tensor);
    case WASINN_U32:
      return AppendSame(contents.uint_contents(), tensor);
    case WASINN_U64:
      return AppendSame(contents.uint64_contents(), tensor);
    case WASINN_F32:
      return AppendSame(contents.fp32_contents(), tensor);
    case WASINN_F64:
      return AppendSame(contents.fp64_contents(), tensor);
    case WASINN_DTYPE_UNKNOWN:
      return AppendTexts(contents, tensor);
    default:
      return std::unexpected(Invalid(
          fmt::format("input '{}': {} travels as raw_input_contents alone", tensor.name, tensor.datatype->name)));
  }
}

Outcome<InputTensor> Read(const Input& input, const std::string* raw) {
  InputTensor tensor;
  tensor.name = input.name();
  tensor.datatype = FindDatatype(input.datatype());
  if (tensor.datatype == nullptr) {
    return std::unexpected(Invalid(fmt::format("input '{}': '{}' is no datatype", input.name(), input.datatype())));
  }
  for (const int64_t dim : input.shape()) {
    if (auto added = AddDim(tensor, dim); !added) return std::unexpected(std::move(added.error()));
  }
  if (raw != nullptr) {
    tensor.lent = {reinterpret_cast<const uint8_t*>(raw->data()), raw->size()};
  } else if (auto read = Read(input.contents(), tensor); !read) {
    return std::unexpected(std::move(read.error()));
  }
  return tensor;
}

}  // namespace

Outcome<InferRequest> ReadRequest(const inference::ModelInferRequest& message) {
  InferRequest request{message.model_name(), message.model_version(), {}, {}};
  const int n_raw = message.raw_input_contents_size();
  if (n_raw != 0 && n_raw != message.inputs_size()) {
    return std::unexpected(Invalid(fmt::format("{} inputs have {} raw_input_contents", message.inputs_size(), n_raw)));
  }
  for (int i = 0; i < message.inputs_size(); ++i) {
    auto tensor = Read(message.inputs(i), n_raw == 0 ? nullptr : &message.raw_input_contents(i));
    if (!tensor) return std::unexpected(std::move(tensor.error()));
    request.inputs.push_back(std::move(*tensor));
  }
  for (const auto& output : message.outputs()) {
    const auto classes = output.parameters().find("classification");
    if (classes != output.parameters().end() && classes->second.int64_param() > 0) {
      return std::unexpected(Invalid(fmt::format("output '{}': there is no classification here", output.name())));
    }
    request.outputs.push_back(output.name());
  }
  return request;
}

void WriteResponse(const InferResponse& response, const std::string& id, inference::ModelInferResponse& message) {
  message.set_model_name(response.model);
  message.set_model_version(response.version);
  message.set_id(id);
  for (const OutputTensor& output : response.outputs) {
    auto& written = *message.add_outputs();
    written.set_name(output.name);
    written.set_datatype(std::string(output.datatype->name));
    written.mutable_shape()->Add(output.shape.begin(), output.shape.end());
    message.add_raw_output_contents(output.bytes.data(), output.bytes.size());
  }
}

}  // namespace wasinn::serve
