#include "serve/openai/text_form.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "serve/openai/text_request.h"

namespace wasinn::serve::openai {

using nlohmann::json;

namespace {

constexpr char kChunk[] = "chat.completion.chunk", kWhole[] = "chat.completion", kVerbose[] = "__verbose";

// The answers to /v1/chat/completions and /v1/completions, which differ in the content of their choices.
class ChoicesForm final : public TextForm {
 public:
  explicit ChoicesForm(const TextRequest& request)
      : is_chat_(request.is_chat),
        model_(request.model),
        wants_usage_(request.wants_usage),
        n_top_(request.n_top),
        is_verbose_(request.is_verbose) {}

  std::string Begin(Completion& completion) override {
    fingerprint_ = ReadFingerprint(completion);
    changes_ = {};
    if (n_top_) probabilities_.emplace(*n_top_);
    return is_chat_ ? Event(Chunk({{"role", "assistant"}, {"content", nullptr}}, nullptr, nullptr)) : "";
  }
  std::string Add(Completion& completion, const std::string& piece, const Ending* so_far) override {
    if (probabilities_) probabilities_->AddStep(completion);
    json content = NewContent(completion, piece);
    if (content.is_null()) return "";
    json chunk = Chunk(std::move(content), nullptr, NewProbabilities());
    if (so_far != nullptr) chunk["timings"] = TimingsOf(*so_far);
    return Event(chunk);
  }
  std::string ReportProgress(const json& progress) override {
    json chunk = Chunk(NoContent(), nullptr, is_chat_ ? json() : NewProbabilities());
    chunk["prompt_progress"] = progress;
    return Event(chunk);
  }
  std::string EndChoice(Completion& completion, const Ending& ending) override {
    json content = NewContent(completion, "");
    std::string events;
    if (!content.is_null()) events = Event(Chunk(std::move(content), nullptr, NewProbabilities()));
    json last = Chunk(NoContent(), ending.reason, NewProbabilities());
    last["timings"] = TimingsOf(ending);
    if (is_verbose_) last[kVerbose] = ToVerbose(completion, ending, model_, /*is_stream=*/true);
    ++index_;
    return events + Event(last);
  }
  std::string End(const Ending& all) override {
    std::string events;
    if (wants_usage_) {
      json chunk = Head(kChunk);
      chunk["choices"] = json::array();
      chunk["usage"] = UsageOf(all);
      chunk["timings"] = TimingsOf(all);
      events = Event(chunk);
    }
    return events + "data: [DONE]\n\n";
  }
  std::string Fail(const ApiError& error) override { return Event(ToJson(error)); }
  size_t KeepChoice(Completion& completion, const Ending& ending) override {
    fingerprint_ = ReadFingerprint(completion);
    size_t kept = 0;
    if (is_verbose_ && verbose_.is_null()) {
      verbose_ = ToVerbose(completion, ending, model_, /*is_stream=*/false);
      kept = Dump(verbose_).size();
    }
    const std::string content = WholeContent(completion), probabilities = WholeProbabilities(completion);
    return kept +
           choices_.Add(fmt::format(R"({{"finish_reason":{},"index":{},"logprobs":{},"{}":{}}})", Dump(ending.reason),
                                    choices_.size(), probabilities, is_chat_ ? "message" : "text", content));
  }
  std::string Whole(const Ending& all) override {
    json whole = Head(kWhole);
    whole["usage"] = UsageOf(all);
    whole["timings"] = TimingsOf(all);
    if (is_verbose_) whole[kVerbose] = std::move(verbose_);
    return choices_.Finish(whole);
  }

 private:
  json Head(const char* chat_object) const {
    return {{"id", id_},
            {"object", is_chat_ ? chat_object : "text_completion"},
            {"created", created_},
            {"model", model_},
            {"system_fingerprint", fingerprint_}};
  }
  // `content`: a chat's delta, or a text.
  json Chunk(json content, json reason, json probabilities) const {
    json choice = {{"index", index_},
                   {is_chat_ ? "delta" : "text", std::move(content)},
                   {"logprobs", std::move(probabilities)},
                   {"finish_reason", std::move(reason)}};
    json chunk = Head(kChunk);
    chunk["choices"] = json::array({std::move(choice)});
    if (is_chat_ && wants_usage_) chunk["usage"] = nullptr;
    return chunk;
  }
  // New text of a choice; null: none.
  json NewContent(Completion& completion, const std::string& piece) {
    if (!is_chat_) return piece.empty() ? json() : json(piece);
    json delta = changes_.New(ReadOutput(completion, "message"));
    return delta.empty() ? json() : delta;
  }
  json NoContent() const { return is_chat_ ? json::object() : json(""); }
  // Those of tokens that were not sent yet; null if the client does not want them.
  json NewProbabilities() {
    if (!probabilities_) return nullptr;
    if (!is_chat_) return probabilities_->TakeAsColumns();
    return {{"content", probabilities_->Take()}, {"refusal", nullptr}};
  }
  // The content and the probabilities of a whole choice, as JSON.
  std::string WholeContent(Completion& completion) const {
    return Dump(is_chat_ ? ReadOutput(completion, "message") : json(completion.Output("completion")));
  }
  std::string WholeProbabilities(Completion& completion) const {
    if (!n_top_) return "null";
    LogProbabilities probabilities(*n_top_);
    if (!is_chat_) return probabilities.ReadAllAsColumns(completion);
    return fmt::format(R"({{"content":{},"refusal":null}})", probabilities.ReadAll(completion));
  }

  const bool is_chat_;
  const std::string id_ = NewId(is_chat_ ? "chatcmpl-" : "cmpl-"), model_;
  const int64_t created_ = UnixTime();
  const bool wants_usage_;
  const std::optional<unsigned> n_top_;
  json fingerprint_;
  // The number of the current choice.
  size_t index_ = 0;
  MessageChanges changes_;  // of a chat
  std::optional<LogProbabilities> probabilities_;
  Choices choices_;  // so far, of an answer that is not a stream
  const bool is_verbose_;
  json verbose_;  // of the first choice, for an answer that is not a stream
};

}  // namespace

std::unique_ptr<TextForm> NewChoicesForm(const TextRequest& request) { return std::make_unique<ChoicesForm>(request); }

}  // namespace wasinn::serve::openai
