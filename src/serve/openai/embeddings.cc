#include "serve/openai/embeddings.h"

#include <fmt/format.h>
#include <sodium.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "serve/openai/prompts.h"

namespace wasinn::serve::openai {
namespace {

using nlohmann::json;
using simdjson::dom::element;

constexpr size_t kMostTexts = 2048;  // OpenAI's limit

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
  if (request.n_texts == 0 || request.n_texts > kMostTexts) {
    ThrowWrong("input", fmt::format("input has {} texts: expected 1 to {}", request.n_texts, kMostTexts));
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

}  // namespace

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
    ThrowWrong("dimensions",
               fmt::format("dimensions is {}, but the model's vectors have {}", request.dimensions, vectors.width));
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

}  // namespace wasinn::serve::openai
