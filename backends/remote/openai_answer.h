// Answers of servers with OpenAI's API.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wasinn::remote {

// The outputs of the backend llama. The server is untrusted.
struct LanguageAnswer {
  std::string completion, metadata;
  std::string message, probabilities;  // empty: not in the answer
  size_t texts = 0;                    // number of embeddings
  std::vector<float> embeddings;       // consecutive
};

// Throws WASINN_ERROR_RUNTIME if invalid. Uses at most JsonMemory and ProbabilitiesMemory in addition to its result.
LanguageAnswer ReadLanguageAnswer(std::string_view text);

// An upper limit of the memory of this text's nlohmann::json, with a few copies of its texts.
uint64_t JsonMemory(std::string_view text);

// The memory for probabilities, which exceeds that of their JSON; 0: the answer has none.
uint64_t ProbabilitiesMemory(std::string_view text);

// The names of the models that a server lists; empty: it has no list. Throws WASINN_ERROR_RUNTIME if invalid.
std::optional<std::vector<std::string>> ReadModels(std::string_view text);

// Whether an error says that the prompt is longer than the model's context.
bool SaysTooLong(std::string_view text);

}  // namespace wasinn::remote
