// The answer to /v1/completions.
#pragma once

#include <optional>
#include <string>

#include "serve/openai/log_probabilities.h"
#include "serve/openai/text_form.h"
#include "serve/openai/text_request.h"
#include "serve/openai/verbose.h"

namespace wasinn::serve::openai {

class CompletionForm final : public TextForm {
 public:
  explicit CompletionForm(const TextRequest& request)
      : model_(request.model),
        wants_usage_(request.wants_usage),
        n_top_(request.n_top),
        verbose_(request.is_verbose, request.model) {}

  Outcome<std::string> Begin(Completion& completion) override;
  Outcome<std::string> Add(Completion& completion, const std::string& piece, const Ending* so_far) override;
  std::string ReportProgress(const nlohmann::json& progress) override;
  Outcome<std::string> EndChoice(Completion& completion, const Ending& ending) override;
  std::string End(const Ending& all) override;
  std::string Fail(const ApiError& error) override { return Event(ToJson(error)); }
  Outcome<size_t> KeepChoice(Completion& completion, const Ending& ending) override;
  std::string Whole(const Ending& all) override;

 private:
  nlohmann::json Head() const;
  nlohmann::json Choice(std::string text, nlohmann::json reason);
  nlohmann::json Chunk(std::string text, nlohmann::json reason);

  const std::string id_ = NewId("cmpl-"), model_;
  const int64_t created_ = UnixTime();
  const bool wants_usage_;
  const std::optional<unsigned> n_top_;
  nlohmann::json fingerprint_;
  // The number of the current choice.
  size_t index_ = 0;
  std::optional<LogProbabilities> probabilities_;
  Choices choices_;  // so far, of an answer that is not a stream
  Verbose verbose_;
};

}  // namespace wasinn::serve::openai
