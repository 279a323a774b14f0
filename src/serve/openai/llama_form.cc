#include "serve/openai/text_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "serve/openai/text_request.h"

namespace wasinn::serve::openai {

using nlohmann::json;

namespace {

// The token of the last step, if there is one.
std::vector<int32_t> StepTokens(Completion& completion) {
  const std::string output = completion.Output("step_tokens");
  std::vector<int32_t> tokens(output.size() / sizeof(int32_t));
  if (!tokens.empty()) std::memcpy(tokens.data(), output.data(), tokens.size() * sizeof(int32_t));
  return tokens;
}

// "a/b": the member `b` of the object `a`.
const json* FindMember(const json& whole, std::string_view path) {
  const json* found = &whole;
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    const auto member = found->find(path.substr(at, end - at));
    if (member == found->end()) return nullptr;
    found = &*member;
    at = end + 1;
  }
  return found;
}

// The evaluated tokens: all but the last one, unless an end token came after it.
uint64_t CachedTokens(const Ending& ending, const json& metadata) {
  const uint64_t discarded = metadata.value("discarded_tokens", uint64_t{0});
  const bool has_last = ending.completion_tokens > 0 && metadata.value("stop_type", json()) != "eos";
  return ending.prompt_tokens + ending.completion_tokens - discarded - (has_last ? 1 : 0);
}

// null: the model is on another server, which does not report it.
json ReadGeneration(Completion& completion) {
  json read = json::parse(completion.Output("generation"), nullptr, false);
  return read.is_object() ? read : json();
}

json StopType(const Ending& ending, const json& metadata) {
  if (const json type = metadata.value("stop_type", json()); type.is_string()) return type;
  return ending.reason == "length" ? "limit" : "eos";
}

// Keys with another name in llama.cpp's server. Others differ only in _ instead of -.
std::string WordOf(const std::string& key) {
  static const std::unordered_map<std::string, std::string> others = {
      {"temp", "temperature"}, {"mirostat-ent", "mirostat_tau"}, {"mirostat-lr", "mirostat_eta"},
      {"keep", "n_keep"},      {"reverse-prompt", "stop"},       {"dry-sequence-breaker", "dry_sequence_breakers"}};
  if (const auto other = others.find(key); other != others.end()) return other->second;
  std::string word = key;
  std::ranges::replace(word, '-', '_');
  return word;
}

// null: the token is forbidden; JSON cannot express the infinite bias.
json Biases(const json& pairs) {
  json list = json::array();
  for (const json& pair : pairs) {
    list.push_back({{"token", pair.at(0)}, {"bias", pair.at(1).is_number() ? pair.at(1) : json()}});
  }
  return list;
}

constexpr int kNoSlot = -1;  // clients cannot choose a slot

// The members of a finished text that do not come from the model.
struct LlamaChoice {
  size_t index = 0;
  std::string content;
  std::vector<int32_t> tokens;
  std::string model;
  bool is_stream = false;
  bool has_new_line = false;
};

// All members except probabilities. Throws Failure.
json WriteChoice(Completion& completion, const Ending& ending, LlamaChoice choice) {
  const json metadata = ReadOutput(completion, "metadata"), generation = ReadGeneration(completion);
  json members = {{"index", choice.index},
                  {"content", std::move(choice.content)},
                  {"tokens", std::move(choice.tokens)},
                  {"id_slot", kNoSlot},
                  {"stop", true},
                  {"model", std::move(choice.model)},
                  {"tokens_predicted", ending.completion_tokens},
                  {"tokens_evaluated", ending.prompt_tokens},
                  {"has_new_line", choice.has_new_line},
                  {"truncated", metadata.value("truncated", false)},
                  {"stop_type", StopType(ending, metadata)},
                  {"stopping_word", metadata.value("stopping_word", "")},
                  {"timings", TimingsOf(ending)}};
  if (generation.is_null()) return members;
  members["tokens_cached"] = CachedTokens(ending, metadata);
  members["generation_settings"] = ToLlamaSettings(generation.value("settings", json::object()), choice.is_stream);
  members["prompt"] = generation.value("prompt", "");
  return members;
}

// The answer to /completion in llama.cpp's own form: an object for each choice, in a list if there are several.
class LlamaForm final : public TextForm {
 public:
  explicit LlamaForm(const TextRequest& request)
      : model_(request.model),
        is_stream_(request.is_stream),
        wants_tokens_(request.wants_tokens),
        members_(request.members),
        n_top_(request.n_top) {}

  std::string Begin(Completion& completion) override {
    n_prompt_ = ReadOutput(completion, "metadata").value("input_tokens", uint64_t{0});
    n_sent_ = 0;
    has_new_line_ = false;
    if (n_top_) probabilities_.emplace(*n_top_);
    return "";
  }
  std::string Add(Completion& completion, const std::string& piece, const Ending* so_far) override {
    std::vector<int32_t> tokens = StepTokens(completion);
    if (tokens.empty() && piece.empty()) return "";
    n_sent_ += tokens.size();
    has_new_line_ = has_new_line_ || piece.contains('\n');
    json part = Part(piece, std::move(tokens));
    if (so_far != nullptr) part["timings"] = TimingsOf(*so_far);
    if (probabilities_) {
      probabilities_->AddStep(completion);
      part["completion_probabilities"] = probabilities_->Take();
    }
    return Event(part);
  }
  std::string ReportProgress(const json& progress) override {
    json part = Part("", {});
    part["prompt_progress"] = progress;
    return Event(part);
  }
  std::string EndChoice(Completion& completion, const Ending& ending) override {
    return Event(Wanted(Last(completion, ending, "")));
  }
  std::string End(const Ending& /*all*/) override { return ""; }
  std::string Fail(const ApiError& error) override { return Event(ToJson(error)); }
  size_t KeepToken(Completion& completion) override {
    if (!wants_tokens_) return 0;
    const std::vector<int32_t> tokens = StepTokens(completion);
    tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
    return tokens.size() * sizeof(int32_t);
  }
  size_t KeepChoice(Completion& completion, const Ending& ending) override {
    std::string text = completion.Output("completion");
    has_new_line_ = text.contains('\n');
    json last = Last(completion, ending, std::move(text));
    // As text: as a tree, probabilities of many tokens take fifteen times as much.
    std::string probabilities;
    constexpr std::string_view kProbabilities = "completion_probabilities";
    if (n_top_ && (members_.empty() || std::ranges::find(members_, kProbabilities) != members_.end())) {
      probabilities = fmt::format(R"("{}":{})", kProbabilities, LogProbabilities(*n_top_).ReadAll(completion));
    }
    std::string choice = Dump(Wanted(std::move(last)));
    if (!probabilities.empty()) choice.insert(1, probabilities + (choice.size() > 2 ? "," : ""));
    const size_t before = whole_.size();
    whole_ += (index_ > 1 ? "," : "") + choice;
    return whole_.size() - before;
  }
  std::string Whole(const Ending& /*all*/) override { return index_ == 1 ? std::move(whole_) : '[' + whole_ + ']'; }

 private:
  // An event within a stream.
  json Part(std::string content, std::vector<int32_t> tokens) const {
    return {{"index", index_},    {"content", std::move(content)}, {"tokens", std::move(tokens)},  {"stop", false},
            {"id_slot", kNoSlot}, {"tokens_predicted", n_sent_},   {"tokens_evaluated", n_prompt_}};
  }
  // All members of a finished choice; its text is `content`.
  json Last(Completion& completion, const Ending& ending, std::string content) {
    return WriteChoice(completion, ending,
                       {.index = index_++,
                        .content = std::move(content),
                        .tokens = std::exchange(tokens_, {}),
                        .model = model_,
                        .is_stream = is_stream_,
                        .has_new_line = has_new_line_});
  }
  // The members that the client wants.
  json Wanted(json last) const {
    if (members_.empty()) return last;
    json wanted = json::object();
    for (const std::string& path : members_) {
      if (const json* const member = FindMember(last, path)) wanted[path] = *member;
    }
    return wanted;
  }

  const std::string model_;
  const bool is_stream_, wants_tokens_;
  const std::vector<std::string> members_;
  const std::optional<unsigned> n_top_;
  // The number of the current choice.
  size_t index_ = 0;
  uint64_t n_prompt_ = 0, n_sent_ = 0;  // tokens
  bool has_new_line_ = false;
  std::vector<int32_t> tokens_;  // for an answer that is not a stream
  std::optional<LogProbabilities> probabilities_;
  std::string whole_;  // the finished choices of an answer that is not a stream
};

}  // namespace

std::unique_ptr<TextForm> NewLlamaForm(const TextRequest& request) { return std::make_unique<LlamaForm>(request); }

json ToVerbose(Completion& completion, const Ending& ending, const std::string& model, bool is_stream) {
  std::string text = completion.Output("completion");
  const bool has_new_line = text.contains('\n');
  return WriteChoice(
      completion, ending,
      {.content = std::move(text), .model = model, .is_stream = is_stream, .has_new_line = has_new_line});
}

json ToLlamaSettings(const json& settings, bool is_stream) {
  constexpr int64_t kAnySeed = 4294967295;
  // Settings that do not exist here have their neutral values.
  json written = {{"dynatemp_range", 0.0},
                  {"dynatemp_exponent", 1.0},
                  {"top_n_sigma", -1.0},
                  {"adaptive_target", -1.0},
                  {"adaptive_decay", 0.9},
                  {"min_keep", 0},
                  {"n_discard", 0},
                  {"grammar_lazy", false},
                  {"backend_sampling", false},
                  {"timings_per_token", false},
                  {"stream", is_stream}};
  for (const auto& [key, value] : settings.items()) written[WordOf(key)] = value;
  written["logit_bias"] = Biases(settings.value("logit-bias", json::array()));
  written["max_tokens"] = written.value("n_predict", -1);
  if (written.value("seed", int64_t{-1}) < 0) written["seed"] = kAnySeed;
  return written;
}

}  // namespace wasinn::serve::openai
