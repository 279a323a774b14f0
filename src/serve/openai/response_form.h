// The answer to /v1/responses: one text, whose items are the model's thoughts, message and calls.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "serve/openai/message_changes.h"
#include "serve/openai/text_form.h"
#include "serve/openai/text_request.h"

namespace wasinn::serve::openai {

class ResponseForm final : public TextForm {
 public:
  explicit ResponseForm(const TextRequest& request) : model_(request.model) {}

  Outcome<std::string> Begin(Completion& completion) override;
  Outcome<std::string> Add(Completion& completion, const std::string& piece, const Ending* so_far) override;
  std::string ReportProgress(const nlohmann::json& progress) override;
  Outcome<std::string> EndChoice(Completion& completion, const Ending& ending) override;
  std::string End(const Ending& all) override;
  std::string Fail(const ApiError& error) override;
  Outcome<size_t> KeepChoice(Completion& completion, const Ending& ending) override;
  std::string Whole(const Ending& all) override;

 private:
  std::string Emit(const char* type, nlohmann::json data);
  // An event about an item, or its only part.
  std::string EmitFor(size_t item, const char* type, nlohmann::json data);
  // Adds the message's changes to the items, and returns events for them.
  std::string Grow(const nlohmann::json& message, const Ending* so_far);
  // Finds the item of a type, or begins one. `call`: a call of a chat's delta, with its index.
  size_t ItemOf(std::string_view type, std::string& events, const nlohmann::json& call = {});
  // Events that end all items.
  std::string EndItems(const Ending& all);
  nlohmann::json Self(const char* status) const;
  nlohmann::json Ended(const Ending& ending) const;

  const std::string id_ = NewId("resp_"), model_;
  const int64_t created_ = UnixTime();
  uint64_t n_told_ = 0;
  MessageChanges changes_;
  std::vector<nlohmann::json> items_;  // as in the answer's output
};

}  // namespace wasinn::serve::openai
