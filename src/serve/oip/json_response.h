// Answers of the REST form.
#pragma once

#include <string>
#include <vector>

#include "serve/oip/json_request.h"

namespace wasinn::serve {

struct RestResponse {
  std::string json;
  std::vector<OutputTensor> binary;  // whose bytes follow, in this order
};

// An output whose type JSON does not have goes as bytes, whatever was asked for: a client that can read it can read that. An output
// with a value that JSON does not have, such as NaN, is the client's error: it can ask for bytes. The answer's memory is added to
// `charge`, before there is any text.
Outcome<RestResponse> WriteResponse(const RestRequest& request, InferResponse response, Charge& charge);

// The same of Triton's extension `generate`: each output is a field, one element without an array.
Outcome<std::string> WriteGenerated(const RestRequest& request, const InferResponse& response, Charge& charge);

}  // namespace wasinn::serve
