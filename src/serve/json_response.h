// Answers of the REST form.
#pragma once

#include <string>
#include <vector>

#include "serve/json_request.h"

namespace wasinn::serve {

struct RestResponse {
  std::string json;
  std::vector<OutputTensor> binary;  // whose bytes follow, in this order
};

// An output whose type JSON does not have goes as bytes, whatever was asked for: a client that can read it can read that.
RestResponse WriteResponse(const RestRequest& request, InferResponse response);

}  // namespace wasinn::serve
