#include "serve/oip/json_response.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

#include "serve/oip/json_tensor.h"

namespace wasinn::serve {

namespace {

std::string Quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

bool JsonLacks(const Datatype& datatype) {
  return datatype.dtype == WASINN_DTYPE_F16 || datatype.dtype == WASINN_DTYPE_BF16;
}

bool GoesAsBytes(const RestRequest& request, const OutputTensor& output) {
  return request.IsBinary(output.name) || JsonLacks(*output.datatype);
}

std::string Head(const RestRequest& request, const InferResponse& response) {
  std::string text =
      fmt::format(R"({{"model_name":{},"model_version":{})", Quoted(response.model), Quoted(response.version));
  if (!request.id.empty()) text += fmt::format(R"(,"id":{})", Quoted(request.id));
  return text;
}

}  // namespace

Outcome<RestResponse> WriteResponse(const RestRequest& request, InferResponse response, Charge& charge) try {
  const uint64_t before = charge.bytes();
  uint64_t most_json = 0, binary = 0;
  for (const OutputTensor& output : response.outputs) {
    (GoesAsBytes(request, output) ? binary += output.bytes.size() : most_json += MostJson(output));
  }
  if (!charge.Add(most_json + binary)) return std::unexpected(NoMemory());
  RestResponse written;
  std::string& text = written.json;
  text.reserve(most_json + 256);  // the system only provides the written part of it
  text += Head(request, response) + R"(,"outputs":[)";
  for (OutputTensor& output : response.outputs) {
    if (text.back() != '[') text += ',';
    text += fmt::format(R"({{"name":{},"datatype":"{}","shape":[{}],)", Quoted(output.name), output.datatype->name,
                        fmt::join(output.shape, ","));
    if (GoesAsBytes(request, output)) {
      text += fmt::format(R"("parameters":{{"binary_data_size":{}}}}})", output.bytes.size());
      written.binary.push_back(std::move(output));
    } else {
      text += R"("data":)";
      AppendJson(text, output);
      text += '}';
      output = {};  // its bytes are not needed any more
    }
  }
  text += "]}";
  charge.ShrinkTo(before + text.size() + binary);
  return written;
} catch (Failure& failure) {
  return std::unexpected(std::move(failure));
}

Outcome<std::string> WriteGenerated(const RestRequest& request, const InferResponse& response, Charge& charge) try {
  const uint64_t before = charge.bytes();
  uint64_t most = 0;
  for (const OutputTensor& output : response.outputs) most += MostJson(output);
  if (!charge.Add(most)) return std::unexpected(NoMemory());
  std::string text = Head(request, response);
  for (const OutputTensor& output : response.outputs) {
    if (JsonLacks(*output.datatype)) {
      ThrowInvalid("output '{}' is of {}, which JSON has not", output.name, output.datatype->name);
    }
    text += fmt::format(",{}:", Quoted(output.name));
    const size_t begin = text.size();
    AppendJson(text, output);
    if (std::ranges::any_of(output.shape, [](int64_t dim) { return dim != 1; })) continue;
    text.erase(begin, 1);  // the array around one element
    text.pop_back();
  }
  text += '}';
  charge.ShrinkTo(before + text.size());
  return text;
} catch (Failure& failure) {
  return std::unexpected(std::move(failure));
}

}  // namespace wasinn::serve
