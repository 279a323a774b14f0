// /v1/rerank in the form of Jina's API and llama.cpp's server, and with `texts` in that of Text Embeddings Inference:
// ranks documents by how well they answer a question.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "serve/openai/fields.h"
#include "serve/openai/vectors.h"

namespace wasinn::serve::openai {

struct RerankRequest {
  std::string model;  // "": the only model
  Prompt prompt;
  size_t n_documents = 0;
  size_t n_top = 0;                    // documents in the answer
  std::vector<std::string> documents;  // if the answer repeats them
  bool is_of_texts = false;            // the form of Text Embeddings Inference

  size_t rows() const { return n_documents; }
  uint64_t bytes() const { return BytesOf(prompt, documents); }
};

// Throws ApiError.
RerankRequest ReadRerank(simdjson::dom::element body);
// The best document first.
nlohmann::json ToJson(const Vectors& scores, const RerankRequest& request);

}  // namespace wasinn::serve::openai
