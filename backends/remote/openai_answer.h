// What a server of OpenAI's API answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wasinn::remote {

// As the outputs of the backend llama. The server may be anybody.
struct LanguageAnswer {
  std::string completion, metadata;
  std::string message, probabilities;  // empty: it has none
  size_t texts = 0;                    // of embeddings
  std::vector<float> embeddings;       // one after the other
};

// WASINN_ERROR_RUNTIME for what is none. It takes JsonMemory and ProbabilitiesMemory at most, and what it returns.
LanguageAnswer ReadLanguageAnswer(std::string_view text);

// What becomes of an answer's probabilities takes more than their JSON; 0: it has none.
uint64_t ProbabilitiesMemory(std::string_view text);

// The names of the models that a server lists; nothing: it lists none. WASINN_ERROR_RUNTIME for a list that is none.
std::optional<std::vector<std::string>> ReadModels(std::string_view text);

// Whether an error says that the prompt is longer than the model's context.
bool SaysTooLong(std::string_view text);

}  // namespace wasinn::remote
