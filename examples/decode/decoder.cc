#include "decoder.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace {

bool Good(const char* call, wasi_nn::Status status) {
  if (status) return true;
  std::string why;
  if (!wasi_nn::last_error(why)) why = status.name();
  std::fprintf(stderr, "%s: %s\n", call, why.c_str());
  return false;
}

// The number, or the numbers of the list, that follow `name`.
std::vector<double> Numbers(const std::string& json, const std::string& name) {
  std::vector<double> numbers;
  const size_t at = json.find("\"" + name + "\":");
  if (at == json.npos) return numbers;
  const char* text = json.c_str() + at + name.size() + 3;
  if (*text == '[') ++text;
  char* end = nullptr;
  for (double number = 0; number = std::strtod(text, &end), end != text; text = end + 1) {
    numbers.push_back(number);
    if (*end != ',') break;
  }
  return numbers;
}

std::string ListOf(const Tokens& tokens) {
  std::string list;
  for (const int32_t token : tokens) list += (list.empty() ? "[" : ",") + std::to_string(token);
  return list + "]";
}

}  // namespace

bool Decoder::Open(const std::string& model) {
  wasi_nn::Graph graph;
  return Good("load_by_name", graph.load_by_name(model)) && Good("init_execution_context", context_.init(graph));
}

bool Decoder::SetText(const char* name, const std::string& text) {
  return Good(name, wasi_nn::set_input_by_name(context_, name, text, {static_cast<uint32_t>(text.size())}));
}

// The host reads options at each set_input.
bool Decoder::Compute(const std::string& options, std::string* completion) {
  if (options != options_ && !SetText("options", options)) return false;
  options_ = options;
  std::vector<char> bytes;
  if (!Good("compute", context_.compute()) ||
      !Good("completion", wasi_nn::get_output_by_name(context_, "completion", bytes))) {
    return false;
  }
  completion->assign(bytes.begin(), bytes.end());
  return true;
}

bool Decoder::TokensOf(const std::string& text, Tokens* tokens) {
  std::string json;
  if (!SetText("prompt", text) || !Compute(R"({"tokenize":true})", &json)) return false;
  tokens->clear();
  for (const double token : Numbers(json, "tokens")) tokens->push_back(static_cast<int32_t>(token));
  return true;
}

bool Decoder::TextOf(const Tokens& tokens, std::string* text) {
  text->clear();
  return tokens.empty() || (SetText("prompt", ListOf(tokens)) && Compute(R"({"detokenize":true})", text));
}

bool Decoder::Next(const std::vector<Tokens>& texts, size_t top, std::vector<Choices>* next) {
  return Decode(texts, R"({"decode":true,"top-logits":)" + std::to_string(top) + "}", top, next);
}

bool Decoder::NextFrom(const Tokens& text, size_t position, size_t top, std::vector<Choices>* next) {
  return Decode(
      {text},
      R"({"decode":true,"top-logits":)" + std::to_string(top) + R"(,"position":)" + std::to_string(position) + "}", top,
      next);
}

bool Decoder::Decode(const std::vector<Tokens>& texts, const std::string& options, size_t top,
                     std::vector<Choices>* next) {
  rows_.clear();
  for (const Tokens& text : texts) rows_.insert(rows_.end(), text.begin(), text.end());
  const auto count = static_cast<uint32_t>(texts.size()), length = static_cast<uint32_t>(texts.front().size());
  Tokens tokens;
  std::vector<float> logits;
  std::string json;
  // Without a prompt the tokens are the whole text.
  if (!SetText("prompt", "") ||
      !Good("tokens", wasi_nn::set_input_by_name(context_, "tokens", rows_, {count, length})) ||
      !Compute(options, &json) || !Good("logits", wasi_nn::get_output_by_name(context_, "logits", logits)) ||
      !Good("logit_tokens", wasi_nn::get_output_by_name(context_, "logit_tokens", tokens))) {
    return false;
  }
  const std::vector<double> log_sums = Numbers(json, "log_sums");
  if (log_sums.size() * top != tokens.size()) return Good("log_sums", WASI_NN_RUNTIME_ERROR);
  next->assign(log_sums.size(), {});
  for (size_t i = 0; i < tokens.size(); ++i) {
    (*next)[i / top].push_back({.token = tokens[i], .log_probability = logits[i] - log_sums[i / top]});
  }
  if (end_tokens_.empty()) {
    for (const double token : Numbers(json, "end_tokens")) end_tokens_.push_back(static_cast<int32_t>(token));
  }
  for (const double n : Numbers(json, "n_evaluated")) evaluated_ += static_cast<size_t>(n);
  ++passes_;
  return true;
}

bool Decoder::Ends(int32_t token) const { return std::ranges::find(end_tokens_, token) != end_tokens_.end(); }
