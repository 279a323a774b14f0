// Vectors that a model makes of texts: one row for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "serve/models/catalog.h"

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
// From the model's output `embeddings`, which must have `rows` rows. Blocks.
Outcome<Vectors> MakeVectors(const VectorsWork& work, const Prompt& prompt, size_t rows);

}  // namespace wasinn::serve::openai
