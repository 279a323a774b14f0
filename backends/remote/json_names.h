// Texts under certain names in JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace wasinn::remote {

// Ignores case.
bool EndsInName(std::string_view text, std::string_view end);

// Visits texts of JSON that have such names, or are below one, without building a document.
class NamedTexts : public nlohmann::json_sax<nlohmann::json> {
 public:
  // Returns false if the text is not JSON or a text was refused. nlohmann takes a byte 0 for the end.
  bool Read(std::string_view text) { return text.find('\0') == text.npos && nlohmann::json::sax_parse(text, this); }

  bool null() override { return OnValue(); }
  bool boolean(bool /*value*/) override { return OnValue(); }
  bool number_integer(number_integer_t /*value*/) override { return OnValue(); }
  bool number_unsigned(number_unsigned_t /*value*/) override { return OnValue(); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return OnValue(); }
  bool string(string_t& value) override;
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return OnObject() && Open(/*is_named=*/false); }
  bool key(string_t& name) override;
  bool end_object() override { return Close(); }
  // Elements of a list count under the list's name.
  bool start_array(std::size_t /*size*/) override { return Open(places_.back().is_named); }
  bool end_array() override { return Close(); }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

 protected:
  explicit NamedTexts(size_t most_depth) : most_depth_(most_depth) {}
  ~NamedTexts() override = default;

  // The number of open objects and lists.
  size_t depth() const { return places_.size() - 1; }

  virtual bool IsName(std::string_view name) const = 0;
  // `is_named`: the text, or the list that contains it, has such a name.
  virtual bool OnText(std::string_view text, bool is_named) = 0;
  // Called at the beginning of any value.
  virtual bool OnValue() { return true; }
  virtual bool OnObject() { return true; }

 private:
  struct Place {
    bool is_named = false, is_below = false;
  };

  bool Open(bool is_named);
  bool Close();

  const size_t most_depth_;
  std::vector<Place> places_{1};  // the first one is the root
};

// Whether a JSON schema, or an object with schemas, refers outside of it: a server might fetch that. True if not JSON.
bool RefersElsewhere(std::string_view text);

}  // namespace wasinn::remote
