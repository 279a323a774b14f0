// JSON that a guest or a backend wrote.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace wasinn::core {

// nlohmann::json copies, compares and writes values by functions that call themselves, so that a deep one takes a
// thread's stack. No configuration is nearly as deep; JSON schemas for language models are the deepest.
inline constexpr int kDeepestJson = 128;

// Discarded if it is no JSON, or deeper than that. `Json` is nlohmann's, ordered or not.
template <typename Json = nlohmann::json>
Json ParseJson(std::string_view text) {
  struct TooDeep {};
  try {
    const auto check = [](int depth, typename Json::parse_event_t, Json&) {
      if (depth >= kDeepestJson) throw TooDeep();
      return true;
    };
    return Json::parse(text, check, /*allow_exceptions=*/false);
  } catch (const TooDeep&) {
    return Json(Json::value_t::discarded);
  }
}

}  // namespace wasinn::core
