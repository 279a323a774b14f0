#include "llama/drafted_sequence.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "common/throw.h"
#include "llama/log_sum.h"
#include "llama/model.h"

namespace wasinn::llama {

using backend::Throw;

namespace {

Settings ForDraft(const Model& model, const Settings& settings) {
  const Model& draft = *model.draft();
  Settings needed = draft.config().defaults;
  needed.context = std::min(settings.context, draft.config().limits.context);
  needed.batch = std::min(needed.batch, settings.batch);
  needed.micro_batch = std::min(needed.micro_batch, settings.micro_batch);
  needed.threads = settings.threads;
  return needed;
}

Settings WithOutputs(const Model& model, Settings settings) {
  settings.outputs = std::max(settings.outputs, model.config().draft.most + 1);
  return settings;
}

bool Ends(const Model& model, llama_token token) {
  return model.host().library().vocab_is_eog(model.vocabulary(), token);
}

// The most probable token, and its probability.
class MostProbableToken : public LogitsTaker {
 public:
  explicit MostProbableToken(size_t vocabulary) : vocabulary_(vocabulary) {}

  void Take(const float* logits) override {
    if (logits == nullptr) Throw(WASINN_ERROR_RUNTIME, "draft: llama.cpp computed no logits");
    const std::span all(logits, vocabulary_);
    const auto highest = std::ranges::max_element(all);
    token_ = static_cast<llama_token>(highest - all.begin());
    probability_ = std::exp(*highest - LogSum(all, *highest));
  }

  llama_token token() const { return token_; }
  double probability() const { return probability_; }

 private:
  const size_t vocabulary_;
  llama_token token_ = 0;
  double probability_ = 0;
};

// Chooses by the logits of consecutive tokens, as long as the choices match the draft.
class Checker : public LogitsTaker {
 public:
  Checker(const Model& model, std::span<const llama_token> guesses, Sampler* sampler,
          const std::atomic<bool>& cancelled)
      : model_(model), guesses_(guesses), sampler_(sampler), cancelled_(cancelled) {}

  void Take(const float* logits) override {
    if (is_done_) return;
    sampler_->Take(logits);
    const llama_token token = sampler_->Choose();
    const size_t n = chosen_.size();
    chosen_.push_back(token);
    is_done_ = n >= guesses_.size() || guesses_[n] != token || Ends(model_, token);
  }

  std::deque<llama_token>& chosen() { return chosen_; }

 private:
  const Model& model_;
  const std::span<const llama_token> guesses_;
  Sampler* const sampler_;
  const std::atomic<bool>& cancelled_;
  bool is_done_ = false;
  std::deque<llama_token> chosen_;
};

}  // namespace

DraftedSequence::DraftedSequence(const Model& model, const Settings& settings, uint64_t max_bytes, void* account,
                                 const std::atomic<bool>& cancelled)
    : OwnSequence(model, WithOutputs(model, settings), max_bytes, account, cancelled),
      draft_model_(*model.draft()),
      draft_(draft_model_, ForDraft(model, settings), max_bytes, account, cancelled) {}

void DraftedSequence::DropReady() {
  const size_t ready = std::min(held().tokens.size(), ready_.size());
  ready_.clear();
  if (ready > 0) std::ignore = Cut(held().tokens.size() - ready);
}

Sequence::Begun DraftedSequence::Begin(std::span<const llama_token> tokens, MediaPrompt* media, bool reuse,
                                       const State* state) {
  DropReady();
  counts_ = {};
  return OwnSequence::Begin(tokens, media, reuse, state);
}

void DraftedSequence::Shift(size_t kept, size_t discarded) {
  DropReady();
  OwnSequence::Shift(kept, discarded);
}

StatePtr DraftedSequence::Save(backend::Reservation reservation) {
  DropReady();
  return OwnSequence::Save(std::move(reservation));
}

void DraftedSequence::End() {
  DropReady();
  OwnSequence::End();
}

std::vector<llama_token> DraftedSequence::Guess(llama_token next) {
  const DraftSettings& settings = model().config().draft;
  std::vector<llama_token> text = held().tokens;
  text.push_back(next);
  const size_t room = std::min(capacity(), draft_.capacity());
  const size_t most = std::min<size_t>(settings.most, room - std::min(room, text.size()));
  std::vector<llama_token> guesses;
  if (most < settings.least) return guesses;
  constexpr bool kReuse = true;
  MostProbableToken likeliest(draft_model_.vocabulary_size());
  std::span<const llama_token> evaluated = std::span(text).subspan(draft_.Begin(text, nullptr, kReuse, nullptr).kept);
  while (guesses.size() < most) {
    draft_.Evaluate(evaluated, &likeliest, 1);
    const llama_token token = likeliest.token();
    const bool is_known = static_cast<size_t>(token) < model().vocabulary_size();
    if (!is_known || likeliest.probability() < settings.least_probability) break;
    guesses.push_back(token);
    if (Ends(model(), token)) break;
    evaluated = std::span(guesses).last(1);
  }
  if (guesses.size() < settings.least) guesses.clear();
  return guesses;
}

llama_token DraftedSequence::Next(std::span<const llama_token> tokens, Sampler* sampler) {
  if (!ready_.empty()) {
    const llama_token token = ready_.front();
    ready_.pop_front();
    return token;
  }
  // A prompt is evaluated first. A sampler that keeps the logits of each token cannot look ahead.
  if (tokens.size() != 1 || held().tokens.empty() || !held().media.empty() || sampler->keeps_logits()) {
    return OwnSequence::Next(tokens, sampler);
  }
  const std::vector<llama_token> guesses = Guess(tokens.front());
  if (guesses.empty()) return OwnSequence::Next(tokens, sampler);
  std::vector<llama_token> checked = {tokens.front()};
  checked.insert(checked.end(), guesses.begin(), guesses.end());
  Checker checker(model(), guesses, sampler, cancelled());
  const size_t before = held().tokens.size();
  Evaluate(checked, &checker, checked.size());
  std::deque<llama_token>& chosen = checker.chosen();
  if (!Cut(before + chosen.size())) Throw(WASINN_ERROR_RUNTIME, "draft: llama.cpp cannot discard drafted tokens");
  counts_.drafted += guesses.size();
  counts_.accepted += chosen.size() - 1;
  const llama_token token = chosen.front();
  chosen.pop_front();
  ready_ = std::move(chosen);
  return token;
}

}  // namespace wasinn::llama
