// The answer to /completion, as llama.cpp's server has it. Each choice is an object, and several are a list of them.
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
        tells_tokens_(request.tells_tokens),
        members_(request.members),
        n_top_(request.n_top) {}

  Outcome<std::string> Begin(Completion& completion) override;
  Outcome<std::string> Add(Completion& completion, const std::string& piece, const Ending* so_far) override;
  std::string TellProgress(const nlohmann::json& progress) override;
  Outcome<std::string> EndChoice(Completion& completion, const Ending& ending) override;
  std::string End(const Ending& /*all*/) override { return ""; }
  std::string Fail(const ApiError& error) override { return Event(ToJson(error)); }
  Outcome<size_t> KeepToken(Completion& completion) override;
  Outcome<size_t> KeepChoice(Completion& completion, const Ending& ending) override;
  std::string Whole(const Ending& all) override;

 private:
  // An event of a stream that goes on.
  nlohmann::json Part(std::string content, std::vector<int32_t> tokens) const;
  // All members of a choice that has ended; its text is `content`.
  Outcome<nlohmann::json> Last(Completion& completion, const Ending& ending, std::string content);
  // Those that the client wants.
  nlohmann::json Wanted(nlohmann::json last) const;

  const std::string model_;
  const bool is_stream_, tells_tokens_;
  const std::vector<std::string> members_;
  const std::optional<unsigned> n_top_;
  // Of the choice that is coming.
  size_t index_ = 0;
  uint64_t n_prompt_ = 0, n_told_ = 0;  // tokens
  bool has_new_line_ = false;
  std::vector<int32_t> tokens_;  // of an answer in one
  std::optional<LogProbabilities> probabilities_;
  std::string whole_;  // the choices that came, of an answer in one
};

}  // namespace wasinn::serve::openai
