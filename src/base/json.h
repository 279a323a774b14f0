// JSON that a guest or a backend wrote.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace wasinn::base {

// nlohmann::json copies, compares and writes values by recursion, so a deep value uses up a thread's stack. No
// configuration is nearly as deep; JSON schemas for language models are the deepest.
inline constexpr int kDeepestJson = 128;

// Whether values are nested deeper than that. It counts the brackets outside of strings; the parser refuses what is no
// JSON. A callback of the parser would be slow: with one it looks through all siblings at each end of an object.
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

// Discarded if the text is no JSON, or nested deeper than that. `Json` is nlohmann's, ordered or not.
template <typename Json = nlohmann::json>
Json ParseJson(std::string_view text) {
  if (IsTooDeep(text)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

// The value as JSON, in which invalid UTF-8 is replaced.
inline std::string Dump(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}
inline std::string Dump(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

// A JSON string, for code that writes JSON piece by piece and builds no tree of values: nlohmann's allocates in its
// destructor, and ends the OS process if there is no memory.
inline std::string Quoted(std::string_view text) { return Dump(nlohmann::json(text)); }

}  // namespace wasinn::base
