#include "serve/openai/passed_request.h"

#include <boost/beast/core/string.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "serve/openai/errors.h"
#include "serve/openai/fields.h"

namespace wasinn::serve::openai {
namespace {

using simdjson::dom::element;

// Whether clients use a member of this name for a URL that a server fetches.
bool IsUrlName(std::string_view name) {
  std::string lower(name.substr(name.size() - std::min<size_t>(name.size(), 8)));
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto ends = {"url", "uri", "urls", "uris"};
  const auto words = {"image", "audio", "video"};
  return std::ranges::any_of(ends, [&](const char* end) { return lower.ends_with(end); }) ||
         std::ranges::find(words, lower) != words.end();
}

// Whether a member of this name has ids of objects that a server keeps for the owner of its key.
bool IsStoredName(std::string_view name) {
  const auto names = {"previous_response_id", "conversation", "container", "file_id", "file_ids",
                      "vector_store_ids",     "connector_id"};
  return std::ranges::any_of(names, [name](const char* one) { return boost::beast::iequals(name, one); });
}

// Reads a member of the body and all nested ones. The model server would fetch URLs from inside its network, which
// clients must not use.
void ReadMember(element value, std::string_view name, std::string_view field, PassedRequest& request) {
  if (value.is_array()) {
    for (const element one : value.get_array()) ReadMember(one, name, field, request);
  } else if (value.is_object()) {
    for (const auto& [inner, member] : value.get_object()) ReadMember(member, inner, field, request);
  } else if (value.is_string()) {
    if (IsUrlName(name) && !static_cast<std::string_view>(value).starts_with("data:")) {
      const std::string text(field);
      ThrowWrong(text, text + ": nothing is fetched: images, sounds and files must be data: URLs");
    }
    if (IsStoredName(name)) request.stored = name;
  }
}

// The begin and end of the value of an object's n-th member, in valid JSON.
std::pair<size_t, size_t> FindValue(std::string_view object, size_t n) {
  size_t depth = 0, begin = 0;
  for (size_t i = 0; i < object.size(); ++i) {
    switch (object[i]) {
      case '"':
        while (object[++i] != '"') i += object[i] == '\\' ? 1 : 0;
        break;
      case '{':
      case '[':
        ++depth;
        break;
      case ':':
        if (depth == 1 && n == 0) begin = i + 1;
        break;
      case ',':
      case '}':
      case ']':
        if (depth == 1 && n == 0) return {begin, i};
        if (object[i] != ',') --depth;
        if (object[i] == ',' && depth == 1) --n;
        break;
      default:
        break;
    }
  }
  return {0, 0};
}

}  // namespace

std::string PassedPath(const std::vector<std::string>& words) {
  static const std::array<std::vector<std::string>, 5> paths = {
      {{"chat", "completions"}, {"completions"}, {"embeddings"}, {"responses"}, {"rerank"}}};
  if (std::ranges::find(paths, words) == paths.end()) return "";
  return words.size() == 1 ? words[0] : words[0] + "/" + words[1];
}

PassedRequest ReadPassed(element body) {
  if (!body.is_object()) ThrowWrong("", "the body is not a JSON object");
  PassedRequest request{.is_empty = body.get_object().size() == 0};
  size_t n = 0;
  for (const auto& [name, value] : body.get_object()) {
    // Servers in Go ignore the case of names.
    const auto is = [&name](std::string_view other) { return boost::beast::iequals(name, other); };
    if (is("model")) {
      if (name != "model") ThrowWrong(std::string(name), "model must be lower case");
      // This server would check one of the two, and the model server might use the other.
      if (request.member) ThrowWrong("model", "model occurs twice");
      if (!value.is_string() && !value.is_null()) ThrowWrong("model", "model is not a string");
      if (value.is_string()) request.model = static_cast<std::string_view>(value);
      request.member = n;
    } else if ((is("models") || is("fallbacks")) && !IsNothing(value)) {
      ThrowWrong(std::string(name), std::string(name) + ": a request may name only one model");
    } else if (is("messages") || is("input") || is("tools")) {
      ReadMember(value, "", name, request);
    } else if (!IsNothing(value) && (IsStoredName(name) || (is("prompt") && value.is_object()))) {
      request.stored = name;
    }
    ++n;
  }
  return request;
}

std::array<std::string_view, 3> WithModel(std::string_view body, const PassedRequest& request, std::string& name) {
  if (request.member) {
    const auto [begin, end] = FindValue(body, *request.member);
    return {body.substr(0, begin), name, body.substr(end)};
  }
  const size_t first = body.find('{') + 1;
  name = R"("model":)" + name + (request.is_empty ? "" : ",");
  return {body.substr(0, first), name, body.substr(first)};
}

}  // namespace wasinn::serve::openai
