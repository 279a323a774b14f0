// A finished text in llama.cpp's own form: the answer to /completion, or `__verbose` of another one.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "serve/openai/text_form.h"

namespace wasinn::serve::openai {

inline constexpr int kNoSlot = -1;  // clients cannot choose a slot

// The members that do not come from the model.
struct LlamaChoice {
  size_t index = 0;
  std::string content;
  std::vector<int32_t> tokens;
  std::string model;
  bool is_stream = false;
  bool has_new_line = false;
};

// All members except probabilities. Throws Failure.
nlohmann::json ToJson(Completion& completion, const Ending& ending, LlamaChoice choice);

// `__verbose` of an answer: llama.cpp's own form of a text, for clients that ask for it. Its functions throw Failure.
class Verbose {
 public:
  Verbose(bool is_wanted, std::string model) : is_wanted_(is_wanted), model_(std::move(model)) {}

  // For a stream: adds it to the last chunk of a choice.
  void AddTo(nlohmann::json& chunk, Completion& completion, const Ending& ending) const;
  // For a whole answer: keeps that of the first choice. Returns the number of bytes.
  size_t Keep(Completion& completion, const Ending& ending);
  void MoveTo(nlohmann::json& whole);

 private:
  nlohmann::json Read(Completion& completion, const Ending& ending, bool is_stream) const;

  const bool is_wanted_;
  const std::string model_;
  nlohmann::json kept_;
};

// `generation_settings`, from `settings` in the model's output `generation`.
nlohmann::json ToLlamaSettings(const nlohmann::json& settings, bool is_stream);

}  // namespace wasinn::serve::openai
