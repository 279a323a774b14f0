// The answer to /completion in llama.cpp's own form: an object for each choice, in a list if there are several.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "serve/openai/log_probabilities.h"
#include "serve/openai/text_form.h"
#include "serve/openai/text_request.h"

namespace wasinn::serve::openai {

class LlamaForm final : public TextForm {
 public:
  explicit LlamaForm(const TextRequest& request)
      : model_(request.model),
        is_stream_(request.is_stream),
        wants_tokens_(request.wants_tokens),
        members_(request.members),
        n_top_(request.n_top) {}

  Outcome<std::string> Begin(Completion& completion) override;
  Outcome<std::string> Add(Completion& completion, const std::string& piece, const Ending* so_far) override;
  std::string ReportProgress(const nlohmann::json& progress) override;
  Outcome<std::string> EndChoice(Completion& completion, const Ending& ending) override;
  std::string End(const Ending& /*all*/) override { return ""; }
  std::string Fail(const ApiError& error) override { return Event(ToJson(error)); }
  Outcome<size_t> KeepToken(Completion& completion) override;
  Outcome<size_t> KeepChoice(Completion& completion, const Ending& ending) override;
  std::string Whole(const Ending& all) override;

 private:
  // An event within a stream.
  nlohmann::json Part(std::string content, std::vector<int32_t> tokens) const;
  // All members of a finished choice; its text is `content`.
  Outcome<nlohmann::json> Last(Completion& completion, const Ending& ending, std::string content);
  // The members that the client wants.
  nlohmann::json Wanted(nlohmann::json last) const;

  const std::string model_;
  const bool is_stream_, wants_tokens_;
  const std::vector<std::string> members_;
  const std::optional<unsigned> n_top_;
  // The number of the current choice.
  size_t index_ = 0;
  uint64_t n_prompt_ = 0, n_sent_ = 0;  // tokens
  bool has_new_line_ = false;
  std::vector<int32_t> tokens_;  // for an answer that is not a stream
  std::optional<LogProbabilities> probabilities_;
  std::string whole_;  // the finished choices of an answer that is not a stream
};

}  // namespace wasinn::serve::openai
