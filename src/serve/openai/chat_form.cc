#include "serve/openai/chat_form.h"

#include <utility>

namespace wasinn::serve::openai {

using nlohmann::json;

json ChatForm::Head(const char* object) const {
  return {{"id", id_}, {"object", object}, {"created", created_}, {"model", model_}};
}

json ChatForm::Chunk(json delta, json reason, json probabilities) const {
  json choice = {{"index", 0},
                 {"delta", std::move(delta)},
                 {"logprobs", std::move(probabilities)},
                 {"finish_reason", std::move(reason)}};
  json chunk = Head("chat.completion.chunk");
  chunk["choices"] = json::array({std::move(choice)});
  if (tells_usage_) chunk["usage"] = nullptr;
  return chunk;
}

Outcome<json> ChatForm::NewProbabilities(Completion& completion) {
  if (!probabilities_) return json();
  auto fresh = probabilities_->New(completion);
  if (!fresh) return fresh;
  return json{{"content", std::move(*fresh)}, {"refusal", nullptr}};
}

std::string ChatForm::Begin() { return Event(Chunk({{"role", "assistant"}, {"content", ""}}, nullptr, nullptr)); }

Outcome<std::string> ChatForm::Add(Completion& completion, const std::string& /*piece*/) {
  const auto message = ReadOutput(completion, "message");
  if (!message) return std::unexpected(message.error());
  json delta = changes_.New(*message);
  if (delta.empty()) return "";
  auto probabilities = NewProbabilities(completion);
  if (!probabilities) return std::unexpected(std::move(probabilities.error()));
  return Event(Chunk(std::move(delta), nullptr, std::move(*probabilities)));
}

Outcome<std::string> ChatForm::End(Completion& completion, const Ending& ending) {
  auto last = Add(completion, "");
  if (!last) return last;
  auto probabilities = NewProbabilities(completion);
  if (!probabilities) return std::unexpected(std::move(probabilities.error()));
  std::string events = std::move(*last) + Event(Chunk(json::object(), ending.reason, std::move(*probabilities)));
  if (tells_usage_) {
    json chunk = Head("chat.completion.chunk");
    chunk["choices"] = json::array();
    chunk["usage"] = UsageOf(ending);
    events += Event(chunk);
  }
  return events + "data: [DONE]\n\n";
}

Outcome<json> ChatForm::Whole(Completion& completion, const Ending& ending) {
  auto message = ReadOutput(completion, "message");
  if (!message) return message;
  auto probabilities = NewProbabilities(completion);
  if (!probabilities) return probabilities;
  json choice = {{"index", 0},
                 {"message", std::move(*message)},
                 {"logprobs", std::move(*probabilities)},
                 {"finish_reason", ending.reason}};
  json whole = Head("chat.completion");
  whole["choices"] = json::array({std::move(choice)});
  whole["usage"] = UsageOf(ending);
  return whole;
}

}  // namespace wasinn::serve::openai
