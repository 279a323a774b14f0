#include "serve/openai/sampling.h"

#include <fmt/format.h>

#include <utility>

namespace wasinn::serve::openai {
namespace {

using simdjson::dom::element;

constexpr size_t kMostStops = 16;
constexpr double kLargest = 1000;

// A number that goes on by the model's key.
void PassNumber(Fields& fields, std::string_view name, double least, double most, std::string_view key,
                Options& options) {
  if (const auto number = fields.Number(name, least, most)) options.Add(key, Dump(*number));
}

void PassInteger(Fields& fields, std::string_view name, int64_t least, int64_t most, std::string_view key,
                 Options& options) {
  if (const auto integer = fields.Integer(name, least, most)) options.Add(key, std::to_string(*integer));
}

void PassJson(Fields& fields, std::string_view name, std::string_view key, Options& options) {
  if (const auto value = fields.Json(name)) options.Add(key, *value);
}

// A text or a list of texts.
void ReadStops(Fields& fields, Options& options) {
  const auto stop = fields.Find("stop");
  if (!stop) return;
  bool is_good = stop->is_string();
  if (stop->is_array()) {
    const simdjson::dom::array list = stop->get_array();
    is_good = list.size() <= kMostStops;
    for (const element one : list) is_good = is_good && one.is_string();
  }
  if (!is_good) {
    ThrowWrong(fields.NameOf("stop"),
               fmt::format("{} is no string, nor a list of up to {} strings", fields.NameOf("stop"), kMostStops));
  }
  options.Add("reverse-prompt", ToText(*stop));
}

}  // namespace

void Options::Add(std::string_view key, std::string_view value) {
  if (text_.size() > 1) text_ += ',';
  text_ += fmt::format(R"("{}":{})", key, value);
}

void Options::AddText(std::string_view key, const std::string& value) { Add(key, Dump(value)); }

std::string Options::Take() { return std::exchange(text_, {}) + "}"; }

void ReadSampling(Fields& fields, Options& options) {
  PassNumber(fields, "temperature", 0, 2, "temp", options);
  PassNumber(fields, "top_p", 0, 1, "top-p", options);
  PassNumber(fields, "presence_penalty", -2, 2, "presence-penalty", options);
  PassNumber(fields, "frequency_penalty", -2, 2, "frequency-penalty", options);
  // A model's seeds have 32 bits.
  if (const auto seed = fields.Integer("seed", INT64_MIN, INT64_MAX)) {
    if (*seed == -1) {
      options.Add("seed", "-1");
    } else {
      options.seed = static_cast<uint32_t>(*seed);
    }
  }
  PassJson(fields, "logit_bias", "logit-bias", options);
  ReadStops(fields, options);
  // Of llama.cpp's server.
  PassInteger(fields, "top_k", 0, INT32_MAX, "top-k", options);
  PassNumber(fields, "min_p", 0, 1, "min-p", options);
  PassNumber(fields, "typical_p", 0, 1, "typical-p", options);
  PassNumber(fields, "repeat_penalty", 0.001, kLargest, "repeat-penalty", options);
  if (const auto grammar = fields.Text("grammar")) options.AddText("grammar", *grammar);
  if (const auto cache = fields.Flag("cache_prompt")) options.Add("cache-prompt", *cache ? "true" : "false");
}

void ReadResponseFormat(Fields& fields, Options& options) {
  const auto own = fields.Json("json_schema");  // llama.cpp's server
  auto format = fields.Object("response_format");
  if (own && format) ThrowWrong("json_schema", "there are both json_schema and response_format");
  if (own) options.Add("json-schema", *own);
  if (!format) return;
  const auto type = format->Text("type").value_or("");
  if (type == "json_object") {
    options.Add("json-schema", format->Json("schema").value_or(kAnyObject));
  } else if (type == "json_schema") {
    auto schema = format->Object("json_schema");
    if (!schema) ThrowWrong("response_format.json_schema", "response_format.json_schema is missing");
    options.Add("json-schema", ToText(schema->Get("schema")));
    schema->Ignore({"name", "description", "strict"});
    schema->CheckAllRead();
  } else if (type != "text") {
    ThrowWrong("response_format.type", "response_format.type is none of text, json_object and json_schema");
  }
  format->CheckAllRead();
}

void ReadMostTokens(Fields& fields, std::initializer_list<std::string_view> names, Options& options) {
  std::optional<int64_t> most;
  for (const std::string_view name : names) {
    // -1: until the model ends.
    const auto one = fields.Integer(name, -1, INT32_MAX);
    if (one && most && *one != *most) {
      ThrowWrong(fields.NameOf(name), fmt::format("{} says another number than a field that means the same", name));
    }
    if (one) most = one;
  }
  if (most) options.Add("n-predict", std::to_string(*most));
}

}  // namespace wasinn::serve::openai
