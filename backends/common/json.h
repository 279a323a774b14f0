// JSON that a guest wrote, or a model.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace wasinn::backend {

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

// Discarded if it is no JSON, or deeper than that. The core has the same functions (src/core/json.h).
inline nlohmann::json ParseJson(std::string_view text) {
  if (IsTooDeep(text)) return nlohmann::json(nlohmann::json::value_t::discarded);
  return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
}

// The most names in one object, where their order is kept: each is compared with all before it.
inline constexpr size_t kMostOrderedNames = 1000;

// Looks at JSON without making anything of it: whether it is that, no deeper than `depth`, and no object has too many
// names. nlohmann takes a byte 0 for the end of a text, whatever comes after it.
class OrderedJsonCheck : public nlohmann::json_sax<nlohmann::json> {
 public:
  static bool Passes(std::string_view text, size_t depth) {
    OrderedJsonCheck check(depth);
    return text.find('\0') == text.npos && nlohmann::json::sax_parse(text, &check);
  }

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& /*value*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return Open(); }
  bool key(string_t& /*name*/) override { return ++names_.back() <= kMostOrderedNames; }
  bool end_object() override { return Close(); }
  bool start_array(std::size_t /*size*/) override { return Open(); }
  bool end_array() override { return Close(); }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

 private:
  explicit OrderedJsonCheck(size_t depth) : depth_(depth) {}
  bool Open() {
    names_.push_back(0);
    return names_.size() <= depth_;
  }
  bool Close() {
    names_.pop_back();
    return true;
  }

  const size_t depth_;
  std::vector<size_t> names_;  // of the objects and lists that are open
};

}  // namespace wasinn::backend
