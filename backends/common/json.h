// JSON that a guest wrote, or a model.
#ifndef WASINN_BACKENDS_COMMON_JSON_H_
#define WASINN_BACKENDS_COMMON_JSON_H_

#include <nlohmann/json.hpp>
#include <string_view>

namespace wasinn::backend {

// nlohmann::json copies, compares and writes values by functions that call themselves, so that a deep one takes a
// thread's stack. No configuration is nearly as deep; JSON schemas for language models are the deepest.
inline constexpr int kDeepestJson = 128;

// Discarded if it is no JSON, or deeper than that. The core has the same function (src/core/json.h).
inline nlohmann::json ParseJson(std::string_view text) {
  struct TooDeep {};
  try {
    const auto check = [](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
      if (depth >= kDeepestJson) throw TooDeep();
      return true;
    };
    return nlohmann::json::parse(text, check, /*allow_exceptions=*/false);
  } catch (const TooDeep&) {
    return nlohmann::json(nlohmann::json::value_t::discarded);
  }
}

}  // namespace wasinn::backend

#endif  // WASINN_BACKENDS_COMMON_JSON_H_
