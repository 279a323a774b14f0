#include "llama/token_lists.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/error.h"
#include "common/json.h"
#include "llama/model.h"
#include "llama/prompt.h"
#include "llama/text.h"

namespace wasinn::llama {

using backend::Error;

namespace {

constexpr size_t kMostListBytes = size_t{8} << 20, kMostTextBytes = size_t{16} << 20;

}  // namespace

std::string TokensAsJson(std::span<const llama_token> tokens, const std::string* prompt) {
  std::string text = fmt::format(R"({{"count":{},"tokens":[{}])", tokens.size(), fmt::join(tokens, ","));
  if (prompt != nullptr) {
    text += R"(,"prompt":)" + nlohmann::json(*prompt).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  return text + '}';
}

std::vector<llama_token> ParseTokens(const Model& model, std::string_view text, size_t most) {
  if (text.size() > kMostListBytes) {
    throw Error(WASINN_PROMPT_TOO_LONG, fmt::format("the prompt has {} bytes: expected a JSON array of at most {}",
                                                    text.size(), kMostListBytes));
  }
  return ReadTokens(model, backend::ParseJson(text), most);
}

std::vector<llama_token> ReadTokens(const Model& model, const nlohmann::json& list, size_t most) {
  const auto n_words = static_cast<uint64_t>(model.vocabulary_size());
  const auto is_token = [&](const nlohmann::json& one) {
    return one.is_number_unsigned() && one.get<uint64_t>() < n_words;
  };
  if (!list.is_array() || list.empty() || !std::ranges::all_of(list, is_token)) {
    throw Error(WASINN_INVALID_ARGUMENT,
                fmt::format("the prompt is no JSON array of tokens, which are from 0 to {}", n_words - 1));
  }
  if (list.size() > most) {
    throw Error(WASINN_PROMPT_TOO_LONG, fmt::format("the prompt has {} tokens: the context has {}", list.size(), most));
  }
  std::vector<llama_token> tokens;
  tokens.reserve(list.size());
  for (const auto& one : list) tokens.push_back(one.get<llama_token>());
  return tokens;
}

std::string TextOf(const Model& model, std::span<const llama_token> tokens) {
  PieceWriter writer({});
  std::string text;
  for (const llama_token token : tokens) {
    text += writer.Add(PieceOf(model, token, kWithSpecial));
    if (text.size() > kMostTextBytes) {
      throw Error(WASINN_TOO_LARGE, fmt::format("detokenize: the text has more than {} bytes", kMostTextBytes));
    }
  }
  return text + writer.End();
}

}  // namespace wasinn::llama
