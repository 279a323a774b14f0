// Vectors that a model makes of texts: one row for each.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "serve/models/catalog.h"
#include "serve/openai/fields.h"

namespace wasinn::serve::openai {

// Its references outlive it.
struct VectorsWork {
  Catalog& models;
  Tenant& tenant;
  const std::string& model;
  const std::string& version;
  Cancellation* cancellation;
};

struct Vectors {
  std::vector<float> numbers;
  size_t width = 0;
  uint64_t tokens = 0;  // for all texts

  size_t size() const { return width == 0 ? 0 : numbers.size() / width; }
  std::span<const float> operator[](size_t row) const { return std::span(numbers).subspan(row * width, width); }
};

// The memory of a request from reading to answering: the prompt, its tensors, and `others`.
uint64_t BytesOf(const Prompt& prompt, std::span<const std::string> others = {});
// From the model's output `embeddings`, which must have `rows` rows. Blocks. Throws Failure.
Vectors MakeVectors(const VectorsWork& work, const Prompt& prompt, size_t rows);

// /v1/embeddings: vectors of texts.
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

// /v1/rerank in the form of Jina's API and llama.cpp's server, and with `texts` in that of Text Embeddings Inference:
// ranks documents by how well they answer a question.
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
