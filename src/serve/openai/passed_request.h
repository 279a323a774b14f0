// Reads a request that is passed on to a model's server, and writes its body for that server.
#pragma once

#include <simdjson.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wasinn::serve::openai {

struct PassedRequest {
  std::string model;  // from the client; "": none
  // The index of the body's member `model`; no value: there is none. `is_empty`: the body has no members.
  std::optional<size_t> member;
  bool is_empty = false;
  // A member with the id of an object that the server keeps: a response, a conversation, a file. "": there is none.
  std::string stored;
};

// The path at the model server, such as "chat/completions", for the words after /v1; "": not passed on.
std::string PassedPath(const std::vector<std::string>& words);

// Throws ApiError if the request names a second model, or makes a server fetch something.
PassedRequest ReadPassed(simdjson::dom::element body);

// The body with another model's name, as JSON. The parts refer to the body and the name.
std::array<std::string_view, 3> WithModel(std::string_view body, const PassedRequest& request, std::string& name);

}  // namespace wasinn::serve::openai
