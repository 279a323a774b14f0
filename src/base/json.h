// JSON that a guest or a backend wrote.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace wasinn::base {

// nlohmann::json copies, compares and writes values by functions that call themselves, so that a deep one takes a
// thread's stack. No configuration is nearly as deep; JSON schemas for language models are the deepest.
inline constexpr int kDeepestJson = 128;

// Whether values lie in each other deeper than that, by the brackets outside of strings; what is no JSON is for the
// parser to tell. Not by a callback of the parser: with one it looks through all siblings at each end of an object.
inline bool IsTooDeep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepestJson) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

// Discarded if it is no JSON, or deeper than that. `Json` is nlohmann's, ordered or not.
template <typename Json = nlohmann::json>
Json ParseJson(std::string_view text) {
  if (IsTooDeep(text)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

// A JSON string. Whoever writes text by text has no tree of values: nlohmann's take memory when they go, and where there is
// none that ends the OS process.
inline std::string Quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace wasinn::base
