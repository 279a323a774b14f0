#include "llama/token_lists.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "common/throw.h"
#include "llama/model.h"
#include "llama/prompt.h"
#include "llama/text.h"

namespace wasinn::llama {

using backend::Throw;

namespace {

constexpr size_t kMaxListBytes = size_t{8} << 20;
constexpr size_t kMaxPieces = size_t{256} << 20;
constexpr size_t kBetweenLooks = 1024;  // checks of a cancel, in tokens that take a moment

// A list and its memory: `[],` is 3 bytes of text, but 50 when parsed.
struct ParsedList {
  backend::Reservation reservation;  // first, so that it is destroyed after them
  nlohmann::json items;
};

ParsedList ParseList(const Model& model, std::string_view text, void* account) {
  constexpr size_t kBytesEach = 32;
  backend::Reservation reservation(model.host().services(), account);
  if (IsLongList(text) && text.size() <= kMaxListBytes) reservation.Resize(text.size() * kBytesEach);
  if (text.size() <= kMaxListBytes) return {std::move(reservation), base::ParseJson(text)};
  Throw(WASINN_ERROR_PROMPT_TOO_LONG, "the prompt has {} bytes: expected a JSON array of at most {}", text.size(),
        kMaxListBytes);
}

bool IsToken(const Model& model, const nlohmann::json& one) {
  return one.is_number_unsigned() && one.get<uint64_t>() < model.vocabulary_size();
}

[[noreturn]] void RefusePieces() {
  Throw(WASINN_ERROR_TOO_LARGE, "with-pieces: the tokens may take more than {} bytes", kMaxPieces);
}

[[noreturn]] void RefuseLength(size_t tokens, size_t most) {
  Throw(WASINN_ERROR_PROMPT_TOO_LONG, "the prompt has {} tokens: the context has {}", tokens, most);
}

}  // namespace

void CheckGoesOn(const std::atomic<bool>& cancelled) {
  if (cancelled) Throw(WASINN_ERROR_TIMEOUT, "the call was cancelled while it tokenized");
}

bool IsLongList(std::string_view text) {
  constexpr size_t kLong = 64 << 10;
  return text.size() > kLong;
}

std::string TokensAsJson(std::span<const llama_token> tokens, const std::string* prompt) {
  std::string text = fmt::format(R"({{"count":{},"tokens":[{}])", tokens.size(), fmt::join(tokens, ","));
  if (prompt != nullptr) {
    text += R"(,"prompt":)" + nlohmann::json(*prompt).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  return text + '}';
}

size_t BytesOfPieces(const Model& model, std::span<const llama_token> tokens, const std::atomic<bool>& cancelled) {
  constexpr size_t kAround = 64, kInJson = 6;  // of a token, and for each byte of its text
  size_t bytes = kAround;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (i % kBetweenLooks == 0) CheckGoesOn(cancelled);
    bytes += kAround + kInJson * PieceOf(model, tokens[i], kWithSpecial).size();
    if (bytes > kMaxPieces) RefusePieces();
  }
  return bytes;
}

std::string PiecesAsJson(const Model& model, std::span<const llama_token> tokens, const std::atomic<bool>& cancelled) {
  std::string text = fmt::format(R"({{"count":{},"tokens":[)", tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (i % kBetweenLooks == 0) CheckGoesOn(cancelled);
    const llama_token token = tokens[i];
    const std::string piece = PieceOf(model, token, kWithSpecial);
    const bool is_text = FindInvalidUtf8(piece) == std::string_view::npos;
    const nlohmann::json text_or_bytes =
        is_text ? nlohmann::json(piece) : nlohmann::json(std::vector<uint8_t>(piece.begin(), piece.end()));
    text += fmt::format(R"({}{{"id":{},"piece":{}}})", text.back() == '[' ? "" : ",", token, text_or_bytes.dump());
  }
  return text + "]}";
}

std::vector<llama_token> ParseTokens(const Model& model, std::string_view text, size_t most, void* account) {
  const ParsedList parsed = ParseList(model, text, account);
  const nlohmann::json& list = parsed.items;
  const auto is_token = [&](const nlohmann::json& one) { return IsToken(model, one); };
  if (!list.is_array() || list.empty() || !std::ranges::all_of(list, is_token)) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "the prompt is not a JSON array of tokens, which are from 0 to {}",
          model.vocabulary_size() - 1);
  }
  if (list.size() > most) RefuseLength(list.size(), most);
  return list.get<std::vector<llama_token>>();
}

std::vector<llama_token> ParseMixed(const Model& model, std::string_view text, const MixedList& bounds) {
  const ParsedList parsed = ParseList(model, text, bounds.account);
  return ReadMixed(model, parsed.items, bounds);
}

std::vector<llama_token> ReadMixed(const Model& model, const nlohmann::json& list, const MixedList& bounds) {
  const auto is_good = [&](const nlohmann::json& one) { return one.is_string() || IsToken(model, one); };
  if (!list.is_array() || list.empty() || !std::ranges::all_of(list, is_good)) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "the prompt is not a JSON array of tokens, which are from 0 to {}, and texts",
          model.vocabulary_size() - 1);
  }
  size_t bytes = 0, numbers = 0;
  for (const auto& one : list) {
    if (one.is_string()) bytes += one.get_ref<const std::string&>().size();
    if (!one.is_string()) ++numbers;
  }
  if (numbers > bounds.most) RefuseLength(numbers, bounds.most);
  CheckTextLength(model, bytes, bounds.most);
  const backend::Reservation meanwhile = ReserveForTokens(model, bounds.account, bytes);
  std::vector<llama_token> tokens;
  for (size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_string()) {
      tokens.push_back(list[i].get<llama_token>());
      continue;
    }
    const auto& text = list[i].get_ref<const std::string&>();
    CheckGoesOn(*bounds.cancelled);  // each takes some time, without interruption
    const bool is_whole = bounds.whole && i == 0;
    const auto more = text.empty() ? std::vector<llama_token>() : Tokenize(model, text, bounds.most, is_whole);
    tokens.insert(tokens.end(), more.begin(), more.end());
    if (tokens.size() > bounds.most) RefuseLength(tokens.size(), bounds.most);
  }
  if (tokens.empty()) Throw(WASINN_ERROR_INVALID_ARGUMENT, "the prompt is empty");
  if (tokens.size() > bounds.most) RefuseLength(tokens.size(), bounds.most);
  return tokens;
}

std::string TextOf(const Model& model, std::span<const llama_token> tokens) {
  PieceWriter writer({});
  std::string text;
  for (const llama_token token : tokens) {
    text += writer.Add(PieceOf(model, token, kWithSpecial));
    if (text.size() > kMaxTextBytes) {
      Throw(WASINN_ERROR_TOO_LARGE, "detokenize: the text has more than {} bytes", kMaxTextBytes);
    }
  }
  return text + writer.End();
}

}  // namespace wasinn::llama
