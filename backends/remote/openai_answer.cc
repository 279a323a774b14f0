#include "remote/openai.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "base/json.h"
#include "common/error.h"

namespace wasinn::remote {

using backend::Error;
using base::Dump;
using nlohmann::json;
using nlohmann::ordered_json;

namespace {

constexpr size_t kMaxVectors = 2048;

[[noreturn]] void RefuseAnswer(std::string_view what) {
  throw Error(WASINN_ERROR_RUNTIME, fmt::format("the server's answer does not follow OpenAI's API: {}", what));
}

// Returns null if there is no such member, or `object` is not an object.
const json& Find(const json& object, const char* name) {
  static const json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(name);
  return found == object.end() ? kNull : *found;
}

std::string_view TextOr(const json& value, std::string_view otherwise) {
  return value.is_string() ? std::string_view(value.get_ref<const std::string&>()) : otherwise;
}

uint64_t Count(const json& value) { return value.is_number_unsigned() ? value.get<uint64_t>() : 0; }

std::string MetadataOf(const json& answer, const json& reason) {
  const json& usage = Find(answer, "usage");
  const uint64_t in = Count(Find(usage, "prompt_tokens"));
  const uint64_t cached = Count(Find(Find(usage, "prompt_tokens_details"), "cached_tokens"));
  // One of OpenAI's words, or the server's own.
  constexpr size_t kLongestReason = 64;
  const std::string_view word = TextOr(reason, "");
  return Dump(json{{"input_tokens", in},
                   {"output_tokens", Count(Find(usage, "completion_tokens"))},
                   {"llama_build_number", 0},
                   {"llama_commit", ""},
                   {"evaluated_tokens", in - std::min(in, cached)},
                   {"finish_reason", word.empty() ? json() : json(word.substr(0, kLongestReason))}});
}

// Writes entries one at a time, so that only one exists as an object.
class EntryList {
 public:
  void Add(const ordered_json& entry) { text_ += (text_.size() > 1 ? "," : "") + Dump(entry); }
  std::string Take() { return std::move(text_) + ']'; }

 private:
  std::string text_ = "[";
};

ordered_json CallOf(const json& call) {
  const json& function = Find(call, "function");
  if (!Find(function, "name").is_string()) RefuseAnswer("a tool call names no function");
  return {{"id", TextOr(Find(call, "id"), "")},
          {"type", "function"},
          {"function",
           {{"name", TextOr(Find(function, "name"), "")}, {"arguments", TextOr(Find(function, "arguments"), "")}}}};
}

// In the form of llama.cpp's chat code.
std::string MessageOf(const json& message) {
  ordered_json written = {{"role", "assistant"}};
  const json& content = Find(message, "content");
  written["content"] = content.is_string() ? ordered_json(TextOr(content, "")) : ordered_json();
  // vLLM calls it "reasoning".
  const json& reasoning = Find(message, "reasoning_content");
  const std::string_view thought = TextOr(reasoning.is_string() ? reasoning : Find(message, "reasoning"), "");
  if (!thought.empty()) written["reasoning_content"] = thought;
  std::string text = Dump(written);
  const json& calls = Find(message, "tool_calls");
  if (!calls.is_array() || calls.empty()) return text;
  EntryList list;
  for (const json& call : calls) list.Add(CallOf(call));
  text.back() = ',';
  return text + R"("tool_calls":)" + list.Take() + '}';
}

// Returns a token's bytes, which may not be UTF-8, from the server or else from its text. Tokens are short.
std::vector<uint8_t> BytesOf(std::string_view text, const json& listed) {
  constexpr size_t kMax = 1024;
  if (!listed.is_array()) return {text.begin(), text.begin() + static_cast<ptrdiff_t>(std::min(text.size(), kMax))};
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < std::min(listed.size(), kMax); ++i) bytes.push_back(static_cast<uint8_t>(Count(listed[i])));
  return bytes;
}

ordered_json About(const json& token, const json& logprob, const json& bytes = nullptr) {
  const std::string_view text = TextOr(token, "");
  return {
      {"token", text}, {"logprob", logprob.is_number() ? logprob.get<double>() : 0.0}, {"bytes", BytesOf(text, bytes)}};
}
ordered_json About(const json& one) { return About(Find(one, "token"), Find(one, "logprob"), Find(one, "bytes")); }

// Completions have columns, as in OpenAI's first API.
std::string ProbabilitiesOfColumns(const json& columns) {
  const json &tokens = Find(columns, "tokens"), &logprobs = Find(columns, "token_logprobs"),
             &top = Find(columns, "top_logprobs");
  if (!tokens.is_array() || !logprobs.is_array() || tokens.size() != logprobs.size()) return "";
  EntryList list;
  for (size_t i = 0; i < tokens.size(); ++i) {
    ordered_json entry = About(tokens[i], logprobs[i]);
    entry["top_logprobs"] = ordered_json::array();
    if (top.is_array() && i < top.size() && top[i].is_object()) {
      for (const auto& [token, logprob] : top[i].items()) entry["top_logprobs"].push_back(About(token, logprob));
    }
    list.Add(entry);
  }
  return list.Take();
}

std::string ProbabilitiesOf(const json& logprobs) {
  const json& content = Find(logprobs, "content");
  if (!content.is_array()) return ProbabilitiesOfColumns(logprobs);
  EntryList list;
  for (const json& one : content) {
    ordered_json entry = About(one);
    entry["top_logprobs"] = ordered_json::array();
    const json& top = Find(one, "top_logprobs");
    if (top.is_array()) {
      for (const json& other : top) entry["top_logprobs"].push_back(About(other));
    }
    list.Add(entry);
  }
  return list.Take();
}

// A name may escape its letters with \u006 and \u007.
bool MayHaveProbabilities(std::string_view text) {
  constexpr std::string_view kName = "logprobs";
  if (text.find("\\u006") != text.npos || text.find("\\u007") != text.npos) return true;
  for (size_t at = text.find(kName); at != text.npos; at = text.find(kName, at + kName.size())) {
    std::string_view value = text.substr(at + kName.size());
    value.remove_prefix(std::min(value.find_first_not_of("\": \t\r\n"), value.size()));
    if (!value.starts_with("null")) return true;
  }
  return false;
}

// An upper limit of the values and names in JSON.
uint64_t CountItems(std::string_view text) {
  return static_cast<uint64_t>(
      std::ranges::count_if(text, [](char c) { return c == ',' || c == ':' || c == '[' || c == '{'; }));
}

// The place of one text's numbers; "index" says which.
std::span<float> RowOf(const json& one, size_t at, LanguageAnswer& answer) {
  const json& index = Find(one, "index");
  const uint64_t row = index.is_number_unsigned() ? index.get<uint64_t>() : at;
  if (row >= answer.texts) RefuseAnswer("an embedding's index is out of range");
  const size_t length = answer.embeddings.size() / answer.texts;
  return std::span(answer.embeddings).subspan(row * length, length);
}

LanguageAnswer EmbeddingsOf(const json& whole, const json& data) {
  if (data.empty() || data.size() > kMaxVectors) RefuseAnswer(fmt::format("it has {} embeddings", data.size()));
  LanguageAnswer answer;
  const json& first = Find(data[0], "embedding");
  if (!first.is_array() || first.empty()) RefuseAnswer("an embedding is not a list of numbers");
  for (const json& one : data) {
    const json& numbers = Find(one, "embedding");
    const bool is_good = numbers.is_array() && numbers.size() == first.size() &&
                         std::ranges::all_of(numbers, [](const json& number) { return number.is_number(); });
    if (!is_good) RefuseAnswer("an embedding is not a list of as many numbers as the first");
  }
  answer.texts = data.size();
  answer.embeddings.resize(data.size() * first.size(), NAN);
  for (size_t i = 0; i < data.size(); ++i) {
    const json& numbers = Find(data[i], "embedding");
    std::ranges::transform(numbers, RowOf(data[i], i, answer).begin(),
                           [](const json& one) { return one.get<float>(); });
  }
  if (std::ranges::any_of(answer.embeddings, [](float one) { return std::isnan(one); })) {
    RefuseAnswer("two embeddings have the same index");
  }
  answer.completion = fmt::format(R"({{"n_embedding":{},"n_texts":{}}})", first.size(), answer.texts);
  if (answer.texts == 1) {
    answer.completion.back() = ',';
    answer.completion += fmt::format(R"("embedding":[{}]}})", fmt::join(answer.embeddings, ","));
  }
  answer.metadata = MetadataOf(whole, nullptr);
  return answer;
}

}  // namespace

LanguageAnswer ReadLanguageAnswer(std::string_view text) {
  const json whole = base::ParseJson(text);
  if (!whole.is_object()) RefuseAnswer("it is not a JSON object");
  if (const json& data = Find(whole, "data"); data.is_array()) return EmbeddingsOf(whole, data);
  const json& choices = Find(whole, "choices");
  if (!choices.is_array() || choices.empty()) RefuseAnswer("it has no choices");
  const json& choice = choices[0];
  LanguageAnswer answer;
  if (const json& message = Find(choice, "message"); message.is_object()) {
    answer.completion = TextOr(Find(message, "content"), "");
    answer.message = MessageOf(message);
  } else if (Find(choice, "text").is_string()) {
    answer.completion = TextOr(Find(choice, "text"), "");
  } else {
    RefuseAnswer("its choice has no message and no text");
  }
  answer.metadata = MetadataOf(whole, Find(choice, "finish_reason"));
  if (const json& logprobs = Find(choice, "logprobs"); logprobs.is_object())
    answer.probabilities = ProbabilitiesOf(logprobs);
  return answer;
}

uint64_t JsonMemory(std::string_view text) {
  // The largest item is an entry of an object: a tree node with a string and a value, in two blocks of memory. A
  // growing list has room for twice its values.
  constexpr uint64_t kEach = 160;
  const uint64_t n = CountItems(text);
  // While it is read, a text exists several times, and again in the result.
  constexpr uint64_t kCopies = 8;
  return text.size() * kCopies + (n + 1) * kEach;
}

uint64_t ProbabilitiesMemory(std::string_view text) {
  if (!MayHaveProbabilities(text)) return 0;
  // Each token is an object of three names and a list of its bytes: about 400 bytes, and 17 for each byte of its text.
  // As text it has 75, and 10 for each, and exists up to seven times while it grows and becomes an output.
  constexpr uint64_t kEach = 1024, kEachByte = 96;
  const uint64_t n = CountItems(text);
  return (n + 1) * kEach + text.size() * kEachByte;
}

std::optional<std::vector<std::string>> ReadModels(std::string_view text) {
  constexpr size_t kMaxText = size_t{1} << 20;
  if (text.size() > kMaxText) RefuseAnswer("its list of models has more than 1 MiB");
  const json whole = base::ParseJson(text);
  const json& data = Find(whole, "data");
  if (!data.is_array() || data.empty()) return std::nullopt;
  std::vector<std::string> names;
  for (const json& one : data) {
    names.emplace_back(TextOr(Find(one, "id"), ""));
    const json& aliases = Find(one, "aliases");  // llama.cpp's server, whose id is often one of them
    if (!aliases.is_array()) continue;
    for (const json& alias : aliases) names.emplace_back(TextOr(alias, ""));
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

bool SaysTooLong(std::string_view text) {
  constexpr size_t kLongest = 64 << 10;
  if (text.size() > kLongest) return false;
  const json whole = base::ParseJson(text);
  const json& error = Find(whole, "error");
  return TextOr(Find(error, "code"), "") == "context_length_exceeded" ||
         TextOr(Find(error, "type"), "") == "exceed_context_size_error";
}

}  // namespace wasinn::remote
