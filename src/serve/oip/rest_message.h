// Messages of the REST form: JSON, after which the bytes of tensors may follow (the binary extension).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <wasinn/wasinn.hpp>

#include "serve/oip/inference.h"
#include "serve/tenants/memory_budget.h"

namespace wasinn::serve {

struct RestRequest {
  InferRequest infer;
  std::string id;
  // The form of each output that the request names, and of all others: as bytes after the JSON, or inside of it.
  std::map<std::string, bool> is_binary;
  bool all_binary = false;

  bool IsBinary(const std::string& output) const {
    const auto found = is_binary.find(output);
    return found == is_binary.end() ? all_binary : found->second;
  }
};

// `json_size`: the value of the header Inference-Header-Content-Length, or all. Tensors may refer to `body`, which must
// outlive the request and have RequestBytes::kPadding readable bytes behind it. Other memory is added to `charge`.
RestRequest ReadRequest(std::string_view body, size_t json_size, Charge& charge);

// As above, for Triton's extension `generate`: a field with an input's name is its data, in the input's shape.
// `inputs`: from the model's metadata.
RestRequest ReadGenerate(std::string_view body, const nlohmann::json& inputs, Charge& charge);

// For the repository's index: whether only ready models are wanted. The body is as for ReadRequest.
bool ReadIndexRequest(std::string_view body);

struct RestResponse {
  std::string json;
  std::vector<OutputTensor> binary;  // their bytes follow, in this order
};

// An output whose type JSON does not have is sent as bytes in any case: a client that can use it can read them. A value
// that JSON does not have, such as NaN, is an error: the client can ask for bytes. The answer's memory is added to
// `charge`, before any text is made.
RestResponse WriteResponse(const RestRequest& request, InferResponse response, Charge& charge);

// As above, for Triton's extension `generate`: each output is a field, one element without an array.
std::string WriteGenerated(const RestRequest& request, const InferResponse& response, Charge& charge);

// The server's description of itself.
inline nlohmann::json ServerMetadata() {
  return {{"name", "wasinn"},
          {"version", wasinn_version()},
          {"extensions", {"binary_tensor_data", "model_repository", "model_configuration", "statistics", "generate"}}};
}

// Reads as many elements as its shape has into the tensor's own bytes, each as an exact element of its type, or as the
// nearest float. Throws Failure.
void ReadJson(InputTensor& tensor, uint64_t elements, simdjson::dom::element data);

// Appends an output as one array. Throws Failure for values that JSON lacks: NaN, infinities, invalid UTF-8.
void AppendJson(std::string& text, const OutputTensor& tensor);
// The most bytes that it can have.
uint64_t MaxJson(const OutputTensor& tensor);

}  // namespace wasinn::serve
