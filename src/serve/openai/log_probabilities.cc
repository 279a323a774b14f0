#include "serve/openai/log_probabilities.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "serve/openai/text_form.h"

namespace wasinn::serve::openai {
namespace {

using nlohmann::json;

size_t Characters(const std::string& utf8) {
  return static_cast<size_t>(std::ranges::count_if(utf8, [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

Outcome<void> LogProbabilities::Add(Completion& completion, const char* output) {
  auto list = ReadOutput(completion, output);
  if (!list) return std::unexpected(std::move(list.error()));
  if (!list->is_array()) {
    return std::unexpected(Failure{WASINN_RUNTIME_ERROR, fmt::format("the model's output '{}' is no list", output)});
  }
  for (json& one : *list) {
    json& top = one["top_logprobs"];
    if (top.is_array() && top.size() > n_top_) top.erase(top.begin() + n_top_, top.end());
    fresh_.push_back(std::move(one));
  }
  return {};
}

json LogProbabilities::Take() { return std::exchange(fresh_, json::array()); }

json LogProbabilities::TakeAsColumns() {
  const json list = Take();
  json tokens = json::array(), chosen = json::array(), tops = json::array(), offsets = json::array();
  for (const json& one : list) {
    const std::string token = one.value("token", "");
    json top = json::object();
    for (const json& other : one.value("top_logprobs", json::array())) {
      top[other.value("token", "")] = other.value("logprob", json());
    }
    tokens.push_back(token);
    chosen.push_back(one.value("logprob", json()));
    tops.push_back(std::move(top));
    offsets.push_back(offset_);
    offset_ += Characters(token);
  }
  return {{"tokens", std::move(tokens)},
          {"token_logprobs", std::move(chosen)},
          {"top_logprobs", std::move(tops)},
          {"text_offset", std::move(offsets)}};
}

}  // namespace wasinn::serve::openai
