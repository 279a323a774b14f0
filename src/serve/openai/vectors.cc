#include "serve/openai/vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "serve/oip/bytes.h"

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

}  // namespace

uint64_t BytesOf(const Prompt& prompt, std::span<const std::string> others) {
  uint64_t bytes = 2 * (prompt.prompt.size() + prompt.options.size());
  for (const std::string& other : others) bytes += other.size() + sizeof other;
  return bytes;
}

Outcome<Vectors> MakeVectors(const VectorsWork& work, const Prompt& prompt, size_t rows) {
  InferRequest request{.model = work.model, .version = work.version, .inputs = {}, .outputs = {kVectors, kMetadata}};
  request.inputs.push_back(ToInput("prompt", prompt.prompt));
  request.inputs.push_back(ToInput("options", prompt.options));
  const auto inferred = work.models.Infer(work.tenant, request, work.cancellation);
  if (!inferred) return std::unexpected(inferred.error());
  const OutputTensor* const output = Find(*inferred, kVectors);
  const bool is_good = output != nullptr && output->datatype->dtype == WASINN_DTYPE_F32 && output->shape.size() == 2 &&
                       output->shape[0] == static_cast<int64_t>(rows) &&
                       output->bytes.size() == rows * static_cast<size_t>(output->shape[1]) * sizeof(float);
  if (!is_good) {
    return std::unexpected(Failure{
        WASINN_ERROR_RUNTIME, fmt::format("the model's output '{}' does not have {} rows of FP32", kVectors, rows)});
  }
  Vectors made{.numbers = std::vector<float>(output->bytes.size() / sizeof(float)),
               .width = static_cast<size_t>(output->shape[1]),
               .tokens = TokensOf(*inferred)};
  std::memcpy(made.numbers.data(), output->bytes.data(), output->bytes.size());
  return made;
}

}  // namespace wasinn::serve::openai
