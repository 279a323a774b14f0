#include "serve/json_response.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "serve/http_message.h"
#include "serve/json_tensor.h"

namespace wasinn::serve {
namespace {

std::string Quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

bool JsonLacks(const Datatype& datatype) { return datatype.dtype == WASINN_F16 || datatype.dtype == WASINN_BF16; }

}  // namespace

RestResponse WriteResponse(const RestRequest& request, InferResponse response) {
  RestResponse written;
  std::string& text = written.json;
  text = fmt::format(R"({{"model_name":{},"model_version":{})", Quoted(response.model), Quoted(response.version));
  if (!request.id.empty()) text += fmt::format(R"(,"id":{})", Quoted(request.id));
  text += R"(,"outputs":[)";
  for (OutputTensor& output : response.outputs) {
    if (text.back() != '[') text += ',';
    text += fmt::format(R"({{"name":{},"datatype":"{}","shape":[{}],)", Quoted(output.name), output.datatype->name,
                        fmt::join(output.shape, ","));
    if (request.IsBinary(output.name) || JsonLacks(*output.datatype)) {
      text += fmt::format(R"("parameters":{{"binary_data_size":{}}}}})", output.bytes.size());
      written.binary.push_back(std::move(output));
    } else {
      text += R"("data":)";
      AppendJson(text, output);
      text += '}';
    }
  }
  text += "]}";
  return written;
}

Response ErrorResponse(http::status status, const std::string& message) {
  Response response{.status = status};
  response.text = fmt::format(R"({{"error":{}}})", Quoted(message));
  return response;
}

}  // namespace wasinn::serve
