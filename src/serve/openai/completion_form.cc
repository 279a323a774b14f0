#include "serve/openai/completion_form.h"

#include <utility>

namespace wasinn::serve::openai {

using nlohmann::json;

json CompletionForm::Head() const {
  return {{"id", id_}, {"object", "text_completion"}, {"created", created_}, {"model", model_}};
}

Outcome<json> CompletionForm::With(Completion& completion, std::string text, json reason) {
  json probabilities;
  if (probabilities_) {
    const auto fresh = probabilities_->New(completion);
    if (!fresh) return fresh;
    probabilities = probabilities_->AsColumns(*fresh);
  }
  json choice = {{"index", 0},
                 {"text", std::move(text)},
                 {"logprobs", std::move(probabilities)},
                 {"finish_reason", std::move(reason)}};
  json whole = Head();
  whole["choices"] = json::array({std::move(choice)});
  return whole;
}

Outcome<std::string> CompletionForm::Add(Completion& completion, const std::string& piece) {
  if (piece.empty()) return "";
  auto chunk = With(completion, piece, nullptr);
  if (!chunk) return std::unexpected(std::move(chunk.error()));
  return Event(*chunk);
}

Outcome<std::string> CompletionForm::End(Completion& completion, const Ending& ending) {
  auto chunk = With(completion, "", ending.reason);
  if (!chunk) return std::unexpected(std::move(chunk.error()));
  std::string events = Event(*chunk);
  if (tells_usage_) {
    json last = Head();
    last["choices"] = json::array();
    last["usage"] = UsageOf(ending);
    events += Event(last);
  }
  return events + "data: [DONE]\n\n";
}

Outcome<json> CompletionForm::Whole(Completion& completion, const Ending& ending) {
  auto text = completion.Output("completion");
  if (!text) return std::unexpected(std::move(text.error()));
  auto whole = With(completion, std::move(*text), ending.reason);
  if (whole) (*whole)["usage"] = UsageOf(ending);
  return whole;
}

}  // namespace wasinn::serve::openai
