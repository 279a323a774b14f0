// What is read of a request that is passed on to a model's server, and what becomes of its body there.
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
  std::string model;  // that the client has named; "": none
  // Which of the body's members names it; nothing: none. `is_empty`: there are no members at all.
  std::optional<size_t> member;
  bool is_empty = false;
};

// By the words of a path behind /v1: "chat/completions", as it is at servers, too. "": such a request is not passed on.
std::string PassedPath(const std::vector<std::string>& words);

// Throws ApiError: what names another model than `model`, or has a server fetch something, is not passed on.
PassedRequest ReadPassed(simdjson::dom::element body);

// The body with another model's name, as JSON has it. Its parts are of the body and of the name.
std::array<std::string_view, 3> WithModel(std::string_view body, const PassedRequest& request, std::string& name);

}  // namespace wasinn::serve::openai
