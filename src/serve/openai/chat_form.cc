#include "serve/openai/chat_form.h"

#include <fmt/format.h>

#include <utility>

namespace wasinn::serve::openai {

using nlohmann::json;

json ChatForm::Head(const char* object) const {
  return {
      {"id", id_}, {"object", object}, {"created", created_}, {"model", model_}, {"system_fingerprint", fingerprint_}};
}

json ChatForm::Chunk(json delta, json reason, json probabilities) const {
  json choice = {{"index", index_},
                 {"delta", std::move(delta)},
                 {"logprobs", std::move(probabilities)},
                 {"finish_reason", std::move(reason)}};
  json chunk = Head("chat.completion.chunk");
  chunk["choices"] = json::array({std::move(choice)});
  if (wants_usage_) chunk["usage"] = nullptr;
  return chunk;
}

json ChatForm::NewProbabilities() {
  if (!probabilities_) return nullptr;
  return {{"content", probabilities_->Take()}, {"refusal", nullptr}};
}

Outcome<std::string> ChatForm::Begin(Completion& completion) {
  auto fingerprint = ReadFingerprint(completion);
  if (!fingerprint) return std::unexpected(std::move(fingerprint.error()));
  fingerprint_ = std::move(*fingerprint);
  changes_ = {};
  if (n_top_) probabilities_.emplace(*n_top_);
  return Event(Chunk({{"role", "assistant"}, {"content", nullptr}}, nullptr, nullptr));
}

Outcome<std::string> ChatForm::Add(Completion& completion, const std::string& /*piece*/, const Ending* so_far) {
  if (probabilities_) {
    if (auto added = probabilities_->AddStep(completion); !added) return std::unexpected(std::move(added.error()));
  }
  const auto message = ReadOutput(completion, "message");
  if (!message) return std::unexpected(message.error());
  json delta = changes_.New(*message);
  if (delta.empty()) return "";
  json chunk = Chunk(std::move(delta), nullptr, NewProbabilities());
  if (so_far != nullptr) chunk["timings"] = TimingsOf(*so_far);
  return Event(chunk);
}

std::string ChatForm::ReportProgress(const json& progress) {
  json chunk = Chunk(json::object(), nullptr, nullptr);
  chunk["prompt_progress"] = progress;
  return Event(chunk);
}

Outcome<std::string> ChatForm::EndChoice(Completion& completion, const Ending& ending) {
  const auto message = ReadOutput(completion, "message");
  if (!message) return std::unexpected(message.error());
  std::string events;
  if (json delta = changes_.New(*message); !delta.empty()) {
    events = Event(Chunk(std::move(delta), nullptr, NewProbabilities()));
  }
  json last = Chunk(json::object(), ending.reason, NewProbabilities());
  last["timings"] = TimingsOf(ending);
  if (auto added = verbose_.AddTo(last, completion, ending); !added) return std::unexpected(std::move(added.error()));
  ++index_;
  return events + Event(last);
}

std::string ChatForm::End(const Ending& all) {
  std::string events;
  if (wants_usage_) {
    json chunk = Head("chat.completion.chunk");
    chunk["choices"] = json::array();
    chunk["usage"] = UsageOf(all);
    chunk["timings"] = TimingsOf(all);
    events = Event(chunk);
  }
  return events + "data: [DONE]\n\n";
}

Outcome<size_t> ChatForm::KeepChoice(Completion& completion, const Ending& ending) {
  auto fingerprint = ReadFingerprint(completion);
  if (!fingerprint) return std::unexpected(std::move(fingerprint.error()));
  fingerprint_ = std::move(*fingerprint);
  const auto kept = verbose_.Keep(completion, ending);
  if (!kept) return kept;
  auto message = ReadOutput(completion, "message");
  if (!message) return std::unexpected(std::move(message.error()));
  std::string probabilities = "null";
  if (n_top_) {
    const auto all = LogProbabilities(*n_top_).ReadAll(completion);
    if (!all) return std::unexpected(all.error());
    probabilities = fmt::format(R"({{"content":{},"refusal":null}})", *all);
  }
  return *kept + choices_.Add(fmt::format(R"({{"finish_reason":{},"index":{},"logprobs":{},"message":{}}})",
                                          Dump(ending.reason), choices_.size(), probabilities, Dump(*message)));
}

std::string ChatForm::Whole(const Ending& all) {
  json whole = Head("chat.completion");
  whole["usage"] = UsageOf(all);
  whole["timings"] = TimingsOf(all);
  verbose_.MoveTo(whole);
  return choices_.Finish(whole);
}

}  // namespace wasinn::serve::openai
