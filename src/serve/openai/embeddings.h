// /v1/embeddings: vectors of texts.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "serve/openai/fields.h"
#include "serve/openai/vectors.h"

namespace wasinn::serve::openai {

struct EmbeddingsRequest {
  std::string model;  // "": the only model
  Prompt prompt;
  size_t n_texts = 0;
  size_t dimensions = 0;   // 0: the model's
  bool is_base64 = false;  // otherwise numbers

  size_t rows() const { return n_texts; }
  uint64_t bytes() const { return BytesOf(prompt); }
};

// Throws ApiError.
EmbeddingsRequest ReadEmbeddings(simdjson::dom::element body);
// Throws ApiError.
nlohmann::json ToJson(const Vectors& vectors, const EmbeddingsRequest& request);

}  // namespace wasinn::serve::openai
