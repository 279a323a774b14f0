#include "serve/openai/log_probabilities.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "serve/openai/text_form.h"

namespace wasinn::serve::openai {
namespace {

using nlohmann::json;

size_t Characters(const std::string& utf8) {
  return static_cast<size_t>(std::ranges::count_if(utf8, [](char c) { return (c & 0xc0) != 0x80; }));
}

// Calls `use` with one object at a time: a tree of all takes many times their text. Returns false if the text is not a
// list of objects.
bool ForEachObject(const std::string& list, const std::function<void(json)>& use) {
  bool are_objects = true;
  const json::parser_callback_t take = [&](int depth, json::parse_event_t event, json& parsed) {
    using Event = json::parse_event_t;
    const bool is_object = event == Event::object_end, is_other = event == Event::array_end || event == Event::value;
    if (depth != 1 || (!is_object && !is_other)) return true;
    are_objects = are_objects && is_object;
    if (is_object) use(std::move(parsed));
    return false;
  };
  return json::parse(list, take, /*allow_exceptions=*/false).is_array() && are_objects;
}

void AddTo(std::string& list, const json& element) {
  if (!list.empty()) list += ',';
  list += Dump(element);
}

}  // namespace

void LogProbabilities::Add(Completion& completion, const char* output, const Use& use) {
  const bool is_good = ForEachObject(completion.Output(output), [&](json one) {
    if (const auto top = one.find("top_logprobs"); top != one.end() && top->is_array() && top->size() > n_top_) {
      top->erase(top->begin() + n_top_, top->end());
    }
    fresh_.push_back(std::move(one));
    use();
  });
  if (!is_good) throw NoOutput(output, "a list of objects");
}

void LogProbabilities::AddStep(Completion& completion) {
  Add(completion, "step_probabilities", [] {});
}

std::string LogProbabilities::ReadAll(Completion& completion) {
  std::string all;
  Add(completion, "probabilities", [&] { AddTo(all, Take()[0]); });
  return '[' + all + ']';
}

std::string LogProbabilities::ReadAllAsColumns(Completion& completion) {
  std::map<std::string, std::string> all;
  const json none = TakeAsColumns();
  for (const auto& [name, empty] : none.items()) all.emplace(name, "");
  Add(completion, "probabilities", [&] {
    const json columns = TakeAsColumns();
    for (const auto& [name, column] : columns.items()) AddTo(all[name], column[0]);
  });
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
