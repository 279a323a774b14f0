#include "remote/openai_prompt.h"

#include <google/protobuf/stubs/common.h>

#include <algorithm>
#include <climits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/json.h"

namespace wasinn::remote {

using backend::Error;
using nlohmann::json;

namespace {

constexpr size_t kDeepestMessages = 32, kDeepestList = 2;

// Names under which clients put what a server fetches.
bool IsNameOfUrl(std::string_view name) { return name == "url" || name.ends_with("_url"); }

// A list that is no deeper than it may be, and names nothing to fetch.
class Check : public nlohmann::json_sax<json> {
 public:
  Check(size_t depth, bool has_objects) : most_depth_(depth), has_objects_(has_objects) {}

  bool names_url() const { return names_url_; }
  bool is_empty() const { return n_ == 0; }

  bool null() override { return Value(); }
  bool boolean(bool /*value*/) override { return Value(); }
  bool number_integer(number_integer_t /*value*/) override { return Value(); }
  bool number_unsigned(number_unsigned_t /*value*/) override { return Value(); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return Value(); }
  bool string(string_t& value) override {
    names_url_ = names_url_ || (is_url_ && !value.starts_with("data:"));
    return Value() && !names_url_;
  }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return depth_ > 0 && has_objects_ && Open(); }
  bool key(string_t& name) override {
    is_url_ = IsNameOfUrl(name);
    return true;
  }
  bool end_object() override { return Close(); }
  bool start_array(std::size_t /*size*/) override { return Open(); }
  bool end_array() override { return Close(); }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

 private:
  bool Value() {
    if (depth_ == 1) ++n_;
    return depth_ > 0;
  }
  // A list of URLs has that name, too.
  bool Open() {
    Value();
    return ++depth_ <= most_depth_;
  }
  bool Close() {
    --depth_;
    is_url_ = false;
    return true;
  }

  const size_t most_depth_;
  const bool has_objects_;
  size_t depth_ = 0, n_ = 0;
  bool is_url_ = false, names_url_ = false;
};

}  // namespace

void CheckMessages(std::string_view text) {
  Check check(kDeepestMessages, /*has_objects=*/true);
  const bool is_list = json::sax_parse(text, &check) && !check.is_empty();
  if (check.names_url()) {
    throw Error(WASINN_INVALID_ARGUMENT, "messages: nothing is fetched: images and sounds are data: URLs");
  }
  if (is_list) return;
  throw Error(WASINN_INVALID_ARGUMENT,
              R"(with "chat" the prompt is a JSON array of messages: [{"role": "user", "content": "…"}])");
}

void CheckList(std::string_view text) {
  Check check(kDeepestList, /*has_objects=*/false);
  if (json::sax_parse(text, &check) && !check.is_empty()) return;
  throw Error(WASINN_INVALID_ARGUMENT,
              "with \"tokens\" or \"texts\" the prompt is a JSON array of tokens, of texts, or of lists of tokens");
}

void CheckText(std::string_view text) {
  if (text.empty()) throw Error(WASINN_INVALID_ARGUMENT, "the prompt is empty");
  if (text.size() > INT_MAX) throw Error(WASINN_PROMPT_TOO_LONG, "the prompt has 2 GiB or more");
  if (google::protobuf::internal::IsStructurallyValidUTF8(text.data(), static_cast<int>(text.size()))) return;
  throw Error(WASINN_INVALID_ARGUMENT, "the prompt is not UTF-8");
}

}  // namespace wasinn::remote
