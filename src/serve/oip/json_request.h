// Inference requests of the REST form: JSON, after which the bytes of tensors may follow (the binary extension).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "serve/oip/inference.h"
#include "serve/tenants/memory_budget.h"

namespace wasinn::serve {

struct RestRequest {
  InferRequest infer;
  std::string id;
  // How each output that the request names is wanted, and all others: as bytes after the JSON, or in it.
  std::map<std::string, bool> is_binary;
  bool all_binary = false;

  bool IsBinary(const std::string& output) const {
    const auto found = is_binary.find(output);
    return found == is_binary.end() ? all_binary : found->second;
  }
};

// `json_size`: what the header Inference-Header-Content-Length says, or all. Tensors may refer to `body`, which outlives the request,
// and behind which RequestBytes::kPadding bytes can be read. What that takes beside `body` is added to `charge`.
Outcome<RestRequest> ReadRequest(std::string_view body, size_t json_size, Charge& charge);

// The same of Triton's extension `generate`: a field that has an input's name is its data, of which the shape is the input's. `inputs`: as
// the model's metadata has them.
Outcome<RestRequest> ReadGenerate(std::string_view body, const nlohmann::json& inputs, Charge& charge);

// Of the repository's index: whether only models that are ready are wanted. The body is as for ReadRequest.
Outcome<bool> ReadIndexRequest(std::string_view body);

}  // namespace wasinn::serve
