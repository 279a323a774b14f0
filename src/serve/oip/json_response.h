// Answers of the REST form.
#pragma once

#include <string>
#include <vector>

#include "serve/oip/json_request.h"

namespace wasinn::serve {

struct RestResponse {
  std::string json;
  std::vector<OutputTensor> binary;  // their bytes follow, in this order
};

// An output whose type JSON does not have is sent as bytes in any case: a client that can use it can read them. A value
// that JSON does not have, such as NaN, is an error: the client can ask for bytes. The answer's memory is added to
// `charge`, before any text is made.
Outcome<RestResponse> WriteResponse(const RestRequest& request, InferResponse response, Charge& charge);

// As above, for Triton's extension `generate`: each output is a field, one element without an array.
Outcome<std::string> WriteGenerated(const RestRequest& request, const InferResponse& response, Charge& charge);

}  // namespace wasinn::serve
