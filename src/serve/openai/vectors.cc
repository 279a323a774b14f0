#include "serve/openai/vectors.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string_view>
#include <utility>

#include "serve/openai/text_request.h"

namespace wasinn::serve::openai {

namespace {

constexpr char kVectors[] = "embeddings", kMetadata[] = "metadata";

InputTensor ToInput(std::string name, const std::string& text) {
  InputTensor tensor{.name = std::move(name), .datatype = &Bytes(), .shape = {1}, .lent = {}, .own = {}};
  AppendElement(tensor.own, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  return tensor;
}

const OutputTensor* Find(const InferResponse& response, std::string_view name) {
  const auto found = std::ranges::find(response.outputs, name, &OutputTensor::name);
  return found == response.outputs.end() ? nullptr : &*found;
}

uint64_t TokensOf(const InferResponse& response) {
  const OutputTensor* const metadata = Find(response, kMetadata);
  const auto text = metadata == nullptr ? std::nullopt : OnlyElement(metadata->bytes);
  if (!text) return 0;
  const auto parsed = nlohmann::json::parse(text->begin(), text->end(), nullptr, false);
  return parsed.is_object() ? parsed.value("input_tokens", uint64_t{0}) : 0;
}

using nlohmann::json;
using simdjson::dom::element;

constexpr size_t kMaxTexts = 2048;  // OpenAI's limit

// In the form of OpenAI's clients: little-endian floats.
std::string ToBase64(std::span<const float> vector) {
  std::string text(sodium_base64_encoded_len(vector.size_bytes(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const unsigned char*>(vector.data()),
                    vector.size_bytes(), sodium_base64_VARIANT_ORIGINAL);
  text.pop_back();  // the NUL
  return text;
}

// The first elements of the vector, scaled to length 1.
std::vector<float> Cut(std::span<const float> vector, size_t dimensions) {
  std::vector<float> cut(vector.begin(), vector.begin() + static_cast<ptrdiff_t>(dimensions));
  double squares = 0;
  for (const float number : cut) squares += double{number} * number;
  const double scale = squares > 0 ? 1 / std::sqrt(squares) : 0;
  for (float& number : cut) number = static_cast<float>(number * scale);
  return cut;
}

// Reads a text or a list of texts.
void ReadInput(element input, EmbeddingsRequest& request) {
  const bool is_list = AreSeveral(input);
  request.n_texts = is_list ? input.get_array().size() : 1;
  if (request.n_texts == 0 || request.n_texts > kMaxTexts) {
    ThrowWrong("input", "input has {} texts: expected 1 to {}", request.n_texts, kMaxTexts);
  }
  std::string& list = request.prompt.prompt = "[";
  const auto add = [&list](element one) {
    if (list.size() > 1) list += ',';
    list += GivenText(one, "input").AsJson();
  };
  if (is_list) {
    for (const element one : input.get_array()) add(one);
  } else {
    add(input);
  }
  list += ']';
}

constexpr size_t kMaxDocuments = 2048;

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

uint64_t BytesOf(const Prompt& prompt, std::span<const std::string> others) {
  uint64_t bytes = 2 * (prompt.prompt.size() + prompt.options.size());
  for (const std::string& other : others) bytes += other.size() + sizeof other;
  return bytes;
}

Vectors MakeVectors(const VectorsWork& work, const Prompt& prompt, size_t rows) {
  InferRequest request{.model = work.model, .version = work.version, .inputs = {}, .outputs = {kVectors, kMetadata}};
  request.inputs.push_back(ToInput("prompt", prompt.prompt));
  request.inputs.push_back(ToInput("options", prompt.options));
  const InferResponse inferred = work.models.Infer(work.tenant, request, work.cancellation);
  const OutputTensor* const output = Find(inferred, kVectors);
  const bool is_good = output != nullptr && output->datatype->dtype == WASINN_DTYPE_F32 && output->shape.size() == 2 &&
                       output->shape[0] == static_cast<int64_t>(rows) &&
                       output->bytes.size() == rows * static_cast<size_t>(output->shape[1]) * sizeof(float);
  if (!is_good) {
    throw Failure{WASINN_ERROR_RUNTIME,
                  fmt::format("the model's output '{}' does not have {} rows of FP32", kVectors, rows)};
  }
  Vectors made{.numbers = std::vector<float>(output->bytes.size() / sizeof(float)),
               .width = static_cast<size_t>(output->shape[1]),
               .tokens = TokensOf(inferred)};
  std::memcpy(made.numbers.data(), output->bytes.data(), output->bytes.size());
  return made;
}

EmbeddingsRequest ReadEmbeddings(element body) {
  Fields fields(body);
  EmbeddingsRequest request;
  request.model = fields.Text("model").value_or("");
  ReadInput(fields.Get("input"), request);
  request.prompt.options = R"({"embedding":true,"texts":true})";
  const std::string format = fields.Text("encoding_format").value_or("float");
  request.is_base64 = format == "base64";
  if (!request.is_base64 && format != "float") {
    ThrowWrong("encoding_format", "encoding_format is neither float nor base64");
  }
  request.dimensions = static_cast<size_t>(fields.Integer("dimensions", 1, INT32_MAX).value_or(0));
  fields.Ignore({"user"});
  fields.CheckAllRead();
  return request;
}

json ToJson(const Vectors& vectors, const EmbeddingsRequest& request) {
  if (request.dimensions > vectors.width) {
    ThrowWrong("dimensions", "dimensions is {}, but the model's vectors have {}", request.dimensions, vectors.width);
  }
  const bool is_cut = request.dimensions > 0 && request.dimensions < vectors.width;
  const auto to_json = [&](std::span<const float> vector) {
    return request.is_base64 ? json(ToBase64(vector)) : json(vector);
  };
  json data = json::array();
  for (size_t i = 0; i < vectors.size(); ++i) {
    data.push_back({{"object", "embedding"},
                    {"index", i},
                    {"embedding", is_cut ? to_json(Cut(vectors[i], request.dimensions)) : to_json(vectors[i])}});
  }
  return {{"object", "list"},
          {"data", std::move(data)},
          {"model", request.model},
          {"usage", {{"prompt_tokens", vectors.tokens}, {"total_tokens", vectors.tokens}}}};
}

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
  if (request.n_documents == 0 || request.n_documents > kMaxDocuments) {
    const char* const name = texts ? "texts" : "documents";
    ThrowWrong(name, "{} is not a list of 1 to {}", name, kMaxDocuments);
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
