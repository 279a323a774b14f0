// What a route gets and gives, apart from how it travels.
#pragma once

#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include <string>
#include <vector>

#include "serve/inference.h"

namespace wasinn::serve {

namespace http = boost::beast::http;

using Request = http::request<http::string_body>;

struct Response {
  http::status status = http::status::ok;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string text = {};
  std::vector<OutputTensor> binary = {};  // whose bytes follow the text
};

// {"error": message}
Response ErrorResponse(http::status status, const std::string& message);

}  // namespace wasinn::serve
