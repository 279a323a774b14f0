#include "serve/openai/text_form.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <array>
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

}  // namespace wasinn::serve::openai
