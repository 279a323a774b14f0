// The answer to /v1/chat/completions.
#pragma once

#include <optional>
#include <string>

#include "serve/openai/log_probabilities.h"
#include "serve/openai/message_changes.h"
#include "serve/openai/text_form.h"

namespace wasinn::serve::openai {

class ChatForm final : public TextForm {
 public:
  ChatForm(std::string model, bool tells_usage, std::optional<unsigned> n_top)
      : model_(std::move(model)), tells_usage_(tells_usage) {
    if (n_top) probabilities_.emplace(*n_top);
  }

  std::string Begin() override;
  Outcome<std::string> Add(Completion& completion, const std::string& piece) override;
  Outcome<std::string> End(Completion& completion, const Ending& ending) override;
  std::string Fail(const ApiError& error) override { return Event(ToJson(error)); }
  Outcome<nlohmann::json> Whole(Completion& completion, const Ending& ending) override;

 private:
  nlohmann::json Head(const char* object) const;
  nlohmann::json Chunk(nlohmann::json delta, nlohmann::json reason, nlohmann::json probabilities) const;
  // {"content": […]} of tokens that were not told yet; null where nobody wants it.
  Outcome<nlohmann::json> NewProbabilities(Completion& completion);

  const std::string id_ = NewId("chatcmpl-"), model_;
  const int64_t created_ = UnixTime();
  const bool tells_usage_;
  MessageChanges changes_;
  std::optional<LogProbabilities> probabilities_;
};

}  // namespace wasinn::serve::openai
