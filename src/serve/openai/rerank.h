// /v1/rerank, as Jina's API and llama.cpp's server have it, and with `texts` Text Embeddings Inference: which documents answer a question
// best.
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
  std::string model;  // "": the only one
  Prompt prompt;
  size_t n_documents = 0;
  size_t n_top = 0;                    // of these are told
  std::vector<std::string> documents;  // where they are told again
  bool is_of_texts = false;            // in the form of Text Embeddings Inference

  size_t rows() const { return n_documents; }
  uint64_t bytes() const { return BytesOf(prompt, documents); }
};

// Throws ApiError.
RerankRequest ReadRerank(simdjson::dom::element body);
// The best one first.
nlohmann::json ToJson(const Vectors& scores, const RerankRequest& request);

}  // namespace wasinn::serve::openai
