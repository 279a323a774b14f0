// The answer to /v1/completions.
#pragma once

#include <optional>
#include <string>

#include "serve/openai/log_probabilities.h"
#include "serve/openai/text_form.h"

namespace wasinn::serve::openai {

class CompletionForm final : public TextForm {
 public:
  CompletionForm(std::string model, bool tells_usage, std::optional<unsigned> n_top)
      : model_(std::move(model)), tells_usage_(tells_usage) {
    if (n_top) probabilities_.emplace(*n_top);
  }

  std::string Begin() override { return ""; }
  Outcome<std::string> Add(Completion& completion, const std::string& piece) override;
  Outcome<std::string> End(Completion& completion, const Ending& ending) override;
  std::string Fail(const ApiError& error) override { return Event(ToJson(error)); }
  Outcome<nlohmann::json> Whole(Completion& completion, const Ending& ending) override;

 private:
  nlohmann::json Head() const;
  Outcome<nlohmann::json> With(Completion& completion, std::string text, nlohmann::json reason);

  const std::string id_ = NewId("cmpl-"), model_;
  const int64_t created_ = UnixTime();
  const bool tells_usage_;
  std::optional<LogProbabilities> probabilities_;
};

}  // namespace wasinn::serve::openai
