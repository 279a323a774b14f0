#include "llama/token_lists.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

std::string TokensAsJson(std::span<const llama_token> tokens) {
  return fmt::format(R"({{"count":{},"tokens":[{}]}})", tokens.size(), fmt::join(tokens, ","));
}

std::vector<llama_token> ParseTokens(const Model& model, std::string_view text) {
  const auto most = static_cast<int64_t>(model.vocabulary_size());
  const auto refuse = [&] {
    throw Error(WASINN_INVALID_ARGUMENT,
                fmt::format("with \"detokenize\" the prompt is a JSON array of at most {} tokens, from 0 to {}",
                            kMostListed, most - 1));
  };
  if (text.size() > kMostListBytes) refuse();
  const auto list = backend::ParseJson(text);
  if (!list.is_array() || list.empty() || list.size() > kMostListed) refuse();
  std::vector<llama_token> tokens;
  tokens.reserve(list.size());
  for (const auto& one : list) {
    if (!one.is_number_unsigned() || one.get<uint64_t>() >= static_cast<uint64_t>(most)) refuse();
    tokens.push_back(one.get<llama_token>());
  }
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
