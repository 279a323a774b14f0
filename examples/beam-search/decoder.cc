#include "decoder.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

bool Good(const char* call, wasi_nn::Status status) {
  if (status) return true;
  std::string why;
  if (!wasi_nn::last_error(why)) why = status.name();
  std::fprintf(stderr, "beam-search: %s: %s\n", call, why.c_str());
  return false;
}

// The numbers of the list that follows `name`.
std::vector<double> Numbers(const std::string& json, const std::string& name) {
  std::vector<double> numbers;
  const size_t at = json.find("\"" + name + "\":[");
  if (at == json.npos) return numbers;
  const char* text = json.c_str() + at + name.size() + 4;
  char* end = nullptr;
  for (double number = 0; number = std::strtod(text, &end), end != text; text = end + (*end == ',' ? 1 : 0)) {
    numbers.push_back(number);
  }
  return numbers;
}

std::string ListOf(const std::vector<int32_t>& tokens) {
  std::string list;
  for (const int32_t token : tokens) list += (list.empty() ? "[" : ",") + std::to_string(token);
  return list + "]";
}

}  // namespace

bool Decoder::Open(const std::string& model, const std::string& prompt) {
  wasi_nn::Graph graph;
  prompt_ = prompt;
  return Good("load_by_name", graph.load_by_name(model)) && Good("init_execution_context", context_.init(graph)) &&
         Set("prompt", prompt_);
}

bool Decoder::Set(const char* name, const std::string& text) {
  return Good(name, wasi_nn::set_input_by_name(context_, name, text, {static_cast<uint32_t>(text.size())}));
}

bool Decoder::Compute(const std::string& options) {
  return Set("options", options) && Good("compute", context_.compute());
}

bool Decoder::Decode(const std::vector<int32_t>& tokens, const Wish& wish, Answer* answer) {
  std::string options = R"({"decode":true,"top-logits":)" + std::to_string(wish.top);
  if (!wish.save.empty()) options += R"(,"save-state":")" + wish.save + '"';
  if (!wish.restore.empty()) options += R"(,"restore-state":")" + wish.restore + '"';
  std::vector<char> told;
  if (!Good("tokens", wasi_nn::set_input_by_name(context_, "tokens", tokens, {static_cast<uint32_t>(tokens.size())})) ||
      !Compute(options + "}") || !Good("logits", wasi_nn::get_output_by_name(context_, "logits", answer->logits)) ||
      !Good("logit_tokens", wasi_nn::get_output_by_name(context_, "logit_tokens", answer->tokens)) ||
      !Good("completion", wasi_nn::get_output_by_name(context_, "completion", told))) {
    return false;
  }
  const std::string json(told.begin(), told.end());
  for (const double sum : Numbers(json, "log_sums")) answer->log_sum = sum;
  for (const double token : Numbers(json, "end_tokens")) answer->end_tokens.push_back(static_cast<int32_t>(token));
  return true;
}

bool Decoder::TextOf(const std::vector<int32_t>& tokens, std::string* text) {
  std::vector<char> bytes;
  if (!Set("prompt", ListOf(tokens)) || !Compute(R"({"detokenize":true})") ||
      !Good("completion", wasi_nn::get_output_by_name(context_, "completion", bytes))) {
    return false;
  }
  text->assign(bytes.begin(), bytes.end());
  return Set("prompt", prompt_);
}
