#include "serve/openai/log_probabilities.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "serve/openai/text_form.h"

namespace wasinn::serve::openai {
namespace {

using nlohmann::json;

size_t Characters(const std::string& utf8) {
  return static_cast<size_t>(std::ranges::count_if(utf8, [](char c) { return (c & 0xc0) != 0x80; }));
}

// Calls `use` with one element at a time: a tree of all takes many times their text. Returns false if the text is not a
// list or `use` returned false.
bool ForEachElement(std::string_view list, const std::function<bool(json)>& use) {
  if (list.size() < 2 || list.front() != '[' || list.back() != ']') return false;
  list = list.substr(1, list.size() - 2);
  size_t begin = 0, depth = 0;
  bool in_string = false;
  for (size_t i = 0; i <= list.size() && !list.empty(); ++i) {
    const char c = i == list.size() ? ',' : list[i];
    if (in_string && i < list.size()) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    in_string = c == '"';
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (c != ',' || (depth > 0 && i < list.size())) continue;
    json one = json::parse(list.substr(begin, i - begin), nullptr, false);
    if (one.is_discarded() || !use(std::move(one))) return false;
    begin = i + 1;
  }
  return list.empty() || begin > list.size();
}

void AddTo(std::string& list, const json& element) {
  if (!list.empty()) list += ',';
  list += Dump(element);
}

}  // namespace

Outcome<void> LogProbabilities::Add(Completion& completion, const char* output, const Use& use) {
  const auto list = completion.Output(output);
  if (!list) return std::unexpected(list.error());
  const bool is_good = ForEachElement(*list, [&](json one) {
    if (!one.is_object()) return false;
    if (const auto top = one.find("top_logprobs"); top != one.end() && top->is_array() && top->size() > n_top_) {
      top->erase(top->begin() + n_top_, top->end());
    }
    fresh_.push_back(std::move(one));
    use();
    return true;
  });
  if (is_good) return {};
  return std::unexpected(
      Failure{WASINN_ERROR_RUNTIME, fmt::format("the model's output '{}' is not a list of objects", output)});
}

Outcome<void> LogProbabilities::AddStep(Completion& completion) {
  return Add(completion, "step_probabilities", [] {});
}

Outcome<std::string> LogProbabilities::ReadAll(Completion& completion) {
  std::string all;
  auto added = Add(completion, "probabilities", [&] { AddTo(all, Take()[0]); });
  if (!added) return std::unexpected(std::move(added.error()));
  return '[' + all + ']';
}

Outcome<std::string> LogProbabilities::ReadAllAsColumns(Completion& completion) {
  std::map<std::string, std::string> all;
  const json none = TakeAsColumns();
  for (const auto& [name, empty] : none.items()) all.emplace(name, "");
  auto added = Add(completion, "probabilities", [&] {
    const json columns = TakeAsColumns();
    for (const auto& [name, column] : columns.items()) AddTo(all[name], column[0]);
  });
  if (!added) return std::unexpected(std::move(added.error()));
  std::string columns;
  for (const auto& [name, column] : all) {
    columns += fmt::format(R"({}"{}":[{}])", columns.empty() ? "" : ",", name, column);
  }
  return '{' + columns + '}';
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
