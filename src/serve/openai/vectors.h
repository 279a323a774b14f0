// What a model makes of texts: a row of numbers for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "serve/models/catalog.h"

namespace wasinn::serve::openai {

// All that it refers to outlives it.
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
  uint64_t tokens = 0;  // of all texts

  size_t size() const { return width == 0 ? 0 : numbers.size() / width; }
  std::span<const float> operator[](size_t row) const { return std::span(numbers).subspan(row * width, width); }
};

// That a request holds from its reading to its answer: of its prompt, of the tensors that are made of that, and of `others`.
uint64_t BytesOf(const Prompt& prompt, std::span<const std::string> others = {});
// By the model's output `embeddings`, which is to have so many rows. On a thread that may wait.
Outcome<Vectors> MakeVectors(const VectorsWork& work, const Prompt& prompt, size_t rows);

}  // namespace wasinn::serve::openai
