#include "serve/openai/completion_form.h"

#include <fmt/format.h>

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

Outcome<std::string> CompletionForm::Add(Completion& completion, const std::string& piece, const Ending* so_far) {
  if (probabilities_) {
    if (auto added = probabilities_->AddStep(completion); !added) return std::unexpected(std::move(added.error()));
  }
  if (piece.empty()) return "";
  json chunk = Chunk(piece, nullptr);
  if (so_far != nullptr) chunk["timings"] = TimingsOf(*so_far);
  return Event(chunk);
}

std::string CompletionForm::ReportProgress(const json& progress) {
  json chunk = Chunk("", nullptr);
  chunk["prompt_progress"] = progress;
  return Event(chunk);
}

Outcome<std::string> CompletionForm::EndChoice(Completion& completion, const Ending& ending) {
  json last = Chunk("", ending.reason);
  last["timings"] = TimingsOf(ending);
  if (auto added = verbose_.AddTo(last, completion, ending); !added) return std::unexpected(std::move(added.error()));
  ++index_;
  return Event(last);
}

std::string CompletionForm::End(const Ending& all) {
  std::string events;
  if (wants_usage_) {
    json chunk = Head();
    chunk["choices"] = json::array();
    chunk["usage"] = UsageOf(all);
    chunk["timings"] = TimingsOf(all);
    events = Event(chunk);
  }
  return events + "data: [DONE]\n\n";
}

Outcome<size_t> CompletionForm::KeepChoice(Completion& completion, const Ending& ending) {
  auto fingerprint = ReadFingerprint(completion);
  if (!fingerprint) return std::unexpected(std::move(fingerprint.error()));
  fingerprint_ = std::move(*fingerprint);
  const auto kept = verbose_.Keep(completion, ending);
  if (!kept) return kept;
  auto text = completion.Output("completion");
  if (!text) return std::unexpected(std::move(text.error()));
  std::string probabilities = "null";
  if (n_top_) {
    auto all = LogProbabilities(*n_top_).ReadAllAsColumns(completion);
    if (!all) return std::unexpected(std::move(all.error()));
    probabilities = std::move(*all);
  }
  return *kept + choices_.Add(fmt::format(R"({{"finish_reason":{},"index":{},"logprobs":{},"text":{}}})",
                                          Dump(ending.reason), choices_.size(), probabilities, Dump(*text)));
}

std::string CompletionForm::Whole(const Ending& all) {
  json whole = Head();
  whole["usage"] = UsageOf(all);
  whole["timings"] = TimingsOf(all);
  verbose_.MoveTo(whole);
  return choices_.Finish(whole);
}

}  // namespace wasinn::serve::openai
