#include "serve/openai/text_form.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace wasinn::serve::openai {

using nlohmann::json;

std::string Event(const json& data) { return "data: " + Dump(data) + "\n\n"; }

std::string NewId(std::string_view prefix) {
  std::array<unsigned char, 16> bytes;
  randombytes_buf(bytes.data(), bytes.size());
  std::array<char, 2 * bytes.size() + 1> text;
  sodium_bin2hex(text.data(), text.size(), bytes.data(), bytes.size());
  return fmt::format("{}{}", prefix, text.data());
}

json UsageOf(const Ending& ending) {
  return {{"prompt_tokens", ending.prompt_tokens},
          {"completion_tokens", ending.completion_tokens},
          {"total_tokens", ending.prompt_tokens + ending.completion_tokens},
          {"prompt_tokens_details", {{"cached_tokens", ending.cached_tokens}}}};
}

json TimingsOf(const Ending& ending) {
  const auto each = [](double of, double n) { return n > 0 ? of / n : 0; };
  const auto evaluated = static_cast<double>(ending.prompt_tokens - ending.cached_tokens);
  // The evaluation of the prompt produces the first token.
  const double generated = std::max<double>(static_cast<double>(ending.completion_tokens), 1) - 1;
  const double prompt = ending.prompt.count(), completion = ending.completion.count();
  return {{"cache_n", ending.cached_tokens},
          {"prompt_n", ending.prompt_tokens - ending.cached_tokens},
          {"prompt_ms", prompt},
          {"prompt_per_token_ms", each(prompt, evaluated)},
          {"prompt_per_second", each(1000 * evaluated, prompt)},
          {"predicted_n", ending.completion_tokens},
          {"predicted_ms", completion},
          {"predicted_per_token_ms", each(completion, generated)},
          {"predicted_per_second", each(1000 * generated, completion)}};
}

void Ending::Add(const Ending& other, bool has_same_prompt) {
  if (!has_same_prompt) {
    prompt_tokens += other.prompt_tokens;
    cached_tokens += other.cached_tokens;
  }
  completion_tokens += other.completion_tokens;
  reason = other.reason;
  prompt += other.prompt;
  completion += other.completion;
}

size_t Choices::Add(const std::string& choice) {
  if (size_++ > 0) text_ += ',';
  text_ += choice;
  return choice.size() + 1;
}

std::string Choices::Finish(const json& rest) {
  text_ += "],";
  text_ += std::string_view(Dump(rest)).substr(1);
  return std::move(text_);
}

json ReadFingerprint(Completion& completion) {
  const json metadata = ReadOutput(completion, "metadata");
  return fmt::format("b{}-{}", metadata.value("llama_build_number", 0), metadata.value("llama_commit", ""));
}

Failure NoOutput(const char* name, const char* kind) {
  return {WASINN_ERROR_RUNTIME, fmt::format("the model's output '{}' is not {}", name, kind)};
}

json ReadOutput(Completion& completion, const char* name) {
  json read = json::parse(completion.Output(name), nullptr, false);
  if (read.is_discarded()) throw NoOutput(name, "JSON");
  return read;
}

Ending ReadEnding(Completion& completion) {
  const json metadata = ReadOutput(completion, "metadata");
  const auto count = [&](const char* key) { return metadata.value(key, uint64_t{0}); };
  Ending ending{.prompt_tokens = count("input_tokens"), .completion_tokens = count("output_tokens")};
  ending.cached_tokens = ending.prompt_tokens - std::min(ending.prompt_tokens, count("evaluated_tokens"));
  const json reason = metadata.value("finish_reason", json());
  ending.reason = reason.is_string() ? reason.get<std::string>() : "stop";
  return ending;
}

void MessageChanges::AddText(const json& from, const char* field, json& sent, json& delta) {
  const auto now = from.find(field);
  if (now == from.end() || !now->is_string()) return;
  const std::string& text = now->get_ref<const std::string&>();
  json& last = sent[field];
  if (!last.is_string()) last = "";
  std::string& known = last.get_ref<std::string&>();
  if (text.size() <= known.size() || !text.starts_with(known)) return;
  delta[field] = text.substr(known.size());
  known = text;
}

void MessageChanges::AddCalls(const json& calls, json& delta) {
  json& sent = sent_["tool_calls"];
  if (!sent.is_array()) sent = json::array();
  for (size_t i = 0; i < calls.size(); ++i) {
    const json& call = calls[i];
    const json function = call.value("function", json::object());
    json change = json::object();
    if (i == sent.size()) {
      change = {{"index", i}, {"id", call.value("id", "")}, {"type", "function"}, {"function", function}};
      sent.push_back(function);
    } else {
      json more = json::object();
      AddText(function, "arguments", sent[i], more);
      if (!more.empty()) change = {{"index", i}, {"function", std::move(more)}};
    }
    if (!change.empty()) delta["tool_calls"].push_back(std::move(change));
  }
}

json MessageChanges::New(const json& message) {
  json delta = json::object();
  if (!message.is_object()) return delta;
  AddText(message, "reasoning_content", sent_, delta);
  AddText(message, "content", sent_, delta);
  if (const auto calls = message.find("tool_calls"); calls != message.end() && calls->is_array()) {
    AddCalls(*calls, delta);
  }
  return delta;
}

namespace {

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
