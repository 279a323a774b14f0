// The answer to /v1/responses: one message, so it has one choice.
#pragma once

#include <cstdint>
#include <string>

#include "serve/openai/message_changes.h"
#include "serve/openai/text_form.h"
#include "serve/openai/text_request.h"

namespace wasinn::serve::openai {

class ResponseForm final : public TextForm {
 public:
  explicit ResponseForm(const TextRequest& request) : model_(request.model) {}

  Outcome<std::string> Begin(Completion& completion) override;
  Outcome<std::string> Add(Completion& completion, const std::string& piece, const Ending* so_far) override;
  std::string TellProgress(const nlohmann::json& progress) override;
  Outcome<std::string> EndChoice(Completion& completion, const Ending& ending) override;
  std::string End(const Ending& all) override;
  std::string Fail(const ApiError& error) override;
  Outcome<size_t> KeepChoice(Completion& completion, const Ending& ending) override;
  std::string Whole(const Ending& all) override;

 private:
  std::string Tell(const char* type, nlohmann::json data);
  // One of the output's parts.
  std::string TellOfPart(const char* type, nlohmann::json data);
  nlohmann::json Message(const char* status, nlohmann::json content) const;
  nlohmann::json Self(const char* status) const;
  nlohmann::json Ended(const Ending& ending) const;
  nlohmann::json Part() const;

  const std::string id_ = NewId("resp_"), message_id_ = NewId("msg_"), model_;
  const int64_t created_ = UnixTime();
  uint64_t n_told_ = 0;
  MessageChanges changes_;
  std::string text_;
};

}  // namespace wasinn::serve::openai
