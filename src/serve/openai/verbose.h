// `__verbose` of an answer: llama.cpp's own form of a text, for clients that ask for it.
#pragma once

#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "serve/openai/text_form.h"

namespace wasinn::serve::openai {

class Verbose {
 public:
  Verbose(bool is_wanted, std::string model) : is_wanted_(is_wanted), model_(std::move(model)) {}

  // For a stream: adds it to the last chunk of a choice.
  Outcome<void> AddTo(nlohmann::json& chunk, Completion& completion, const Ending& ending) const;
  // For a whole answer: keeps that of the first choice. Returns the number of bytes.
  Outcome<size_t> Keep(Completion& completion, const Ending& ending);
  void MoveTo(nlohmann::json& whole);

 private:
  Outcome<nlohmann::json> Read(Completion& completion, const Ending& ending, bool is_stream) const;

  const bool is_wanted_;
  const std::string model_;
  nlohmann::json kept_;
};

}  // namespace wasinn::serve::openai
