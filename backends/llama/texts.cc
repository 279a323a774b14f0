#include "llama/texts.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/json.h"
#include "common/throw.h"
#include "llama/model.h"
#include "llama/prompt.h"
#include "llama/token_lists.h"

namespace wasinn::llama {

using backend::Error;
using backend::Throw;
using nlohmann::json;

namespace {

constexpr size_t kMaxTexts = 2048, kMaxTextsBytes = size_t{4} << 20;

json Parse(std::string_view text) {
  if (text.size() <= kMaxTextsBytes) return base::ParseJson(text);
  Throw(WASINN_ERROR_PROMPT_TOO_LONG, "the texts have {} bytes: no more than {} are allowed", text.size(),
        kMaxTextsBytes);
}

bool AreTexts(const json& list) {
  return list.is_array() && !list.empty() && list.size() <= kMaxTexts &&
         std::ranges::all_of(list, [](const json& one) { return one.is_string(); });
}

// A text, or a list of tokens and texts.
std::vector<llama_token> TokenizeOne(const Model& model, const json& one, size_t capacity,
                                     const std::atomic<bool>* cancelled) {
  if (one.is_string() && !one.get_ref<const std::string&>().empty()) {
    return Tokenize(model, one.get_ref<const std::string&>(), capacity);
  }
  if (one.is_string()) return TokenizeNothing(model);
  // Its memory is charged with all of the texts.
  return ReadMixed(model, one, {.most = capacity, .whole = true, .account = nullptr, .cancelled = cancelled});
}

void Append(std::vector<llama_token>* tokens, std::span<const llama_token> more) {
  tokens->insert(tokens->end(), more.begin(), more.end());
}

// A query is repeated for each document: a small request may have many tokens, and take long.
void AddText(Texts* texts, std::vector<llama_token> tokens, const CallBounds& bounds) {
  CheckGoesOn(*bounds.cancelled);
  tokens.shrink_to_fit();  // was reserved for one token for each byte
  bounds.reservation->Resize(bounds.reservation->bytes() + tokens.size() * sizeof(llama_token));
  texts->push_back(std::move(tokens));
}

// The steps of llama.cpp's server (format_prompt_rerank).
std::vector<llama_token> Ranked(const Model& model, std::span<const llama_token> query, const std::string& document,
                                size_t capacity) {
  const LlamaLibrary& library = model.host().library();
  const llama_vocab* vocabulary = model.vocabulary();
  const llama_token eos = library.vocab_eos(vocabulary), separator = library.vocab_sep(vocabulary);
  const llama_token end = eos == LLAMA_TOKEN_NULL ? separator : eos;
  std::vector<llama_token> tokens;
  if (library.vocab_get_add_bos(vocabulary)) tokens.push_back(library.vocab_bos(vocabulary));
  Append(&tokens, query);
  if (library.vocab_get_add_eos(vocabulary)) tokens.push_back(end);
  if (library.vocab_get_add_sep(vocabulary)) tokens.push_back(separator);
  Append(&tokens, TokenizePlain(model, document, capacity));
  if (library.vocab_get_add_eos(vocabulary)) tokens.push_back(end);
  return tokens;
}

std::vector<llama_token> RankedByTemplate(const Model& model, std::string text, const std::string& query,
                                          const std::string& document, size_t capacity) {
  // Back to front, so that inserted text is not searched.
  constexpr std::string_view kQuery = "{query}", kDocument = "{document}";
  for (size_t at = text.size(); at-- > 0;) {
    if (text.compare(at, kQuery.size(), kQuery) == 0) text.replace(at, kQuery.size(), query);
    if (text.compare(at, kDocument.size(), kDocument) == 0) text.replace(at, kDocument.size(), document);
  }
  return Tokenize(model, text, capacity);
}

}  // namespace

Texts TokenizeTexts(const Model& model, std::string_view text, size_t capacity, const CallBounds& bounds) {
  const json list = Parse(text);
  const bool is_list = list.is_array() && !list.empty() && list.size() <= kMaxTexts;
  if (!is_list || !std::ranges::all_of(list, [](const json& one) { return one.is_string() || one.is_array(); })) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT,
          "with \"texts\" the prompt is a JSON array of 1 to {} texts, or of their tokens", kMaxTexts);
  }
  Texts texts;
  for (const json& one : list) AddText(&texts, TokenizeOne(model, one, capacity, bounds.cancelled), bounds);
  return texts;
}

Texts TokenizeRanked(const Model& model, std::string_view text, size_t capacity, const CallBounds& bounds) {
  const json request = Parse(text);
  const bool good = request.is_object() && request.contains("query") && request["query"].is_string() &&
                    request.contains("documents") && AreTexts(request["documents"]);
  if (!good) {
    throw Error(
        WASINN_ERROR_INVALID_ARGUMENT,
        fmt::format(R"(with "rerank" the prompt is {{"query": text, "documents": [1 to {} texts]}})", kMaxTexts));
  }
  const char* by_template = model.host().library().model_chat_template(model.get(), "rerank");
  const auto query = request["query"].get<std::string>();
  const auto tokens = by_template == nullptr ? TokenizePlain(model, query, capacity) : std::vector<llama_token>();
  Texts texts;
  for (const json& one : request["documents"]) {
    const auto document = one.get<std::string>();
    AddText(&texts,
            by_template == nullptr ? Ranked(model, tokens, document, capacity)
                                   : RankedByTemplate(model, by_template, query, document, capacity),
            bounds);
    if (texts.back().empty()) Throw(WASINN_ERROR_INVALID_ARGUMENT, "rerank: both the query and a document are empty");
    if (texts.back().size() <= capacity) continue;
    Throw(WASINN_ERROR_PROMPT_TOO_LONG,
          "the prompt has {} tokens, with its query and one of its documents: the context has {}", texts.back().size(),
          capacity);
  }
  return texts;
}

void Normalize(std::span<float> vector, int norm) {
  double sum = 0;
  switch (norm) {
    case -1:
      return;
    case 0:
      for (const float value : vector) sum = std::max(sum, std::abs(double{value}));
      sum /= 32760;
      break;
    case 2:
      for (const float value : vector) sum += double{value} * value;
      sum = std::sqrt(sum);
      break;
    default:
      for (const float value : vector) sum += std::pow(std::abs(double{value}), norm);
      sum = std::pow(sum, 1.0 / norm);
  }
  const double scale = sum > 0 ? 1 / sum : 0;
  for (float& value : vector) value = static_cast<float>(value * scale);
}

}  // namespace wasinn::llama
