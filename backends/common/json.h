// JSON of a guest or a model, with its names in the given order.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace wasinn::backend {

// The most names in one object that keeps their order: each is compared with all before it.
inline constexpr size_t kMaxOrderedNames = 1000;

// Checks JSON without building values: that it is valid, at most `depth` deep, and no object has too many names.
// nlohmann takes a byte 0 for the end of a text, whatever comes after it.
class OrderedJsonCheck : public nlohmann::json_sax<nlohmann::json> {
 public:
  static bool Passes(std::string_view text, size_t depth) {
    OrderedJsonCheck check(depth);
    return !text.contains('\0') && nlohmann::json::sax_parse(text, &check);
  }

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& /*value*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return Open(); }
  bool key(string_t& /*name*/) override { return ++names_.back() <= kMaxOrderedNames; }
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
  std::vector<size_t> names_;  // of the open objects and lists
};

}  // namespace wasinn::backend
