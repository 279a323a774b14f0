#include "serve/openai/log_probabilities.h"

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

Outcome<json> LogProbabilities::New(Completion& completion) {
  const auto all = completion.Output("probabilities");
  if (!all) return std::unexpected(all.error());
  // The list only grows, so what it had before is not read again: it would be read once for each token.
  const size_t begin = n_read_ == 0 ? 0 : n_read_ + 1;  // behind the comma
  json fresh = json::array();
  if (begin >= all->size()) return fresh;
  fresh = json::parse((begin == 0 ? "" : "[") + all->substr(begin), nullptr, false);
  if (!fresh.is_array())
    return std::unexpected(Failure{WASINN_RUNTIME_ERROR, "the model's output 'probabilities' is no list"});
  if (!fresh.empty()) n_read_ = all->rfind(']');
  for (json& one : fresh) {
    json& top = one["top_logprobs"];
    if (top.is_array() && top.size() > n_top_) top.erase(top.begin() + n_top_, top.end());
  }
  return fresh;
}

json LogProbabilities::AsColumns(const json& list) {
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
