#include "serve/openai/completion_form.h"

#include <utility>

namespace wasinn::serve::openai {

using nlohmann::json;

json CompletionForm::Head() const {
  return {{"id", id_},
          {"object", "text_completion"},
          {"created", created_},
          {"model", model_},
          {"system_fingerprint", fingerprint_}};
}

json CompletionForm::Choice(std::string text, json reason) {
  return {{"index", index_},
          {"text", std::move(text)},
          {"logprobs", probabilities_ ? probabilities_->TakeAsColumns() : json()},
          {"finish_reason", std::move(reason)}};
}

json CompletionForm::Chunk(std::string text, json reason) {
  json chunk = Head();
  chunk["choices"] = json::array({Choice(std::move(text), std::move(reason))});
  return chunk;
}

Outcome<std::string> CompletionForm::Begin(Completion& completion) {
  auto fingerprint = ReadFingerprint(completion);
  if (!fingerprint) return std::unexpected(std::move(fingerprint.error()));
  fingerprint_ = std::move(*fingerprint);
  if (n_top_) probabilities_.emplace(*n_top_);
  return "";
}

Outcome<std::string> CompletionForm::Add(Completion& completion, const std::string& piece) {
  if (probabilities_) {
    if (auto added = probabilities_->AddStep(completion); !added) return std::unexpected(std::move(added.error()));
  }
  if (piece.empty()) return "";
  return Event(Chunk(piece, nullptr));
}

Outcome<std::string> CompletionForm::EndChoice(Completion& /*completion*/, const Ending& ending) {
  json last = Chunk("", ending.reason);
  last["timings"] = TimingsOf(ending);
  ++index_;
  return Event(last);
}

std::string CompletionForm::End(const Ending& all) {
  std::string events;
  if (tells_usage_) {
    json chunk = Head();
    chunk["choices"] = json::array();
    chunk["usage"] = UsageOf(all);
    chunk["timings"] = TimingsOf(all);
    events = Event(chunk);
  }
  return events + "data: [DONE]\n\n";
}

Outcome<size_t> CompletionForm::KeepChoice(Completion& completion, const Ending& ending) {
  if (auto begun = Begin(completion); !begun) return std::unexpected(std::move(begun.error()));
  auto text = completion.Output("completion");
  if (!text) return std::unexpected(std::move(text.error()));
  if (probabilities_) {
    if (auto added = probabilities_->AddAll(completion); !added) return std::unexpected(std::move(added.error()));
  }
  choices_.push_back(Choice(std::move(*text), ending.reason));
  ++index_;
  return SizeOf(choices_.back());
}

json CompletionForm::Whole(const Ending& all) {
  json whole = Head();
  whole["choices"] = std::move(choices_);
  whole["usage"] = UsageOf(all);
  whole["timings"] = TimingsOf(all);
  return whole;
}

}  // namespace wasinn::serve::openai
