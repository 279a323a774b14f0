#include "serve/openai/rerank.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace wasinn::serve::openai {
namespace {

using nlohmann::json;
using simdjson::dom::element;

constexpr size_t kMostDocuments = 2048;

// A text, or an object with `text`.
std::string DocumentOf(element document) {
  if (document.is_string()) return std::string(static_cast<std::string_view>(document));
  Fields fields(document, "documents");
  std::string text = fields.Text("text").value_or("");
  if (text.empty()) ThrowWrong("documents", "one of documents is not a text");
  fields.CheckAllRead();
  return text;
}

}  // namespace

RerankRequest ReadRerank(element body) {
  Fields fields(body);
  RerankRequest request;
  request.model = fields.Text("model").value_or("");
  const element query = fields.Get("query");
  if (!query.is_string()) ThrowWrong("query", "query is not a string");
  const auto texts = fields.Find("texts");
  request.is_of_texts = texts.has_value();
  const element documents = texts ? *texts : fields.Get("documents");
  request.n_documents = documents.is_array() ? documents.get_array().size() : 0;
  if (request.n_documents == 0 || request.n_documents > kMostDocuments) {
    const char* const name = texts ? "texts" : "documents";
    ThrowWrong(name, fmt::format("{} is not a list of 1 to {}", name, kMostDocuments));
  }
  for (const element document : documents.get_array()) request.documents.push_back(DocumentOf(document));
  request.prompt.prompt = fmt::format(R"({{"query":{},"documents":{}}})", ToText(query), Dump(request.documents));
  request.prompt.options = R"({"rerank":true})";
  const auto most = static_cast<int64_t>(request.n_documents);
  request.n_top = static_cast<size_t>(std::min(fields.Integer("top_n", 1, INT32_MAX).value_or(most), most));
  if (!fields.Flag(texts ? "return_text" : "return_documents").value_or(false)) request.documents.clear();
  fields.Ignore({"user"});
  fields.CheckAllRead();
  return request;
}

namespace {

// A model may return NaN.
float ScoreOf(const Vectors& scores, size_t row) {
  const float score = scores[row].empty() ? NAN : scores[row].front();
  return std::isnan(score) ? -std::numeric_limits<float>::infinity() : score;
}

}  // namespace

json ToJson(const Vectors& scores, const RerankRequest& request) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](size_t i) { return ScoreOf(scores, i); });
  order.resize(std::min(order.size(), request.n_top));
  json results = json::array();
  for (const size_t i : order) {
    const char* const score = request.is_of_texts ? "score" : "relevance_score";
    json& result = results.emplace_back(json{{"index", i}, {score, ScoreOf(scores, i)}});
    if (request.documents.empty()) continue;
    result[request.is_of_texts ? "text" : "document"] =
        request.is_of_texts ? json(request.documents[i]) : json{{"text", request.documents[i]}};
  }
  if (request.is_of_texts) return results;
  return {{"object", "list"},
          {"model", request.model},
          {"results", std::move(results)},
          {"usage", {{"prompt_tokens", scores.tokens}, {"total_tokens", scores.tokens}}}};
}

}  // namespace wasinn::serve::openai
