// Several texts at once, each in a sequence of its own: llama.cpp's sequences share what was copied from one to
// another.
#include <algorithm>

#include "common/throw.h"
#include "llama/own_sequence.h"

namespace wasinn::llama {

using backend::Throw;

namespace {

// The length of the beginning that all have in common, without anybody's last token, which has to be evaluated.
size_t CommonOf(std::span<const std::vector<llama_token>> texts) {
  size_t common = texts.front().size() - 1;
  for (const auto& text : texts)
    common = std::min(common, CommonBeginning(texts.front(), std::span(text).first(common)));
  return common;
}

class Batch {
 public:
  Batch(const LlamaLibrary& library, size_t room)
      : library_(library), batch_(library.batch_init(static_cast<int32_t>(room), 0, 1)) {}
  ~Batch() { library_.batch_free(batch_); }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  const llama_batch& get() const { return batch_; }
  size_t size() const { return static_cast<size_t>(batch_.n_tokens); }
  void Clear() { batch_.n_tokens = 0; }
  void Add(llama_token token, llama_pos position, size_t sequence, bool has_logits) {
    const auto at = static_cast<size_t>(batch_.n_tokens++);
    batch_.token[at] = token;
    batch_.pos[at] = position;
    batch_.n_seq_id[at] = 1;
    batch_.seq_id[at][0] = static_cast<llama_seq_id>(sequence);
    batch_.logits[at] = has_logits ? 1 : 0;
  }

 private:
  const LlamaLibrary& library_;
  llama_batch batch_;
};

}  // namespace

void OwnSequence::KeepOneBranch(std::span<const llama_token> tokens) {
  if (branches_.empty()) return;
  const llama_memory_t memory = library_.get_memory(context_.get());
  const auto best = std::ranges::max_element(branches_, {}, [tokens](const Held& held) { return held.Usable(tokens); });
  if (best->Usable(tokens) > held_.Usable(tokens)) {
    library_.memory_seq_rm(memory, 0, -1, -1);
    library_.memory_seq_cp(memory, static_cast<llama_seq_id>(best - branches_.begin()) + 1, 0, -1, -1);
    held_ = std::move(*best);
  }
  for (size_t i = 1; i <= branches_.size(); ++i) library_.memory_seq_rm(memory, static_cast<llama_seq_id>(i), -1, -1);
  branches_.clear();
}

std::vector<size_t> OwnSequence::PlaceBranches(std::span<const std::vector<llama_token>> texts) {
  const llama_memory_t memory = library_.get_memory(context_.get());
  // The memories of some models cannot lose a part, but always all of it.
  const auto cut = [&](size_t sequence, size_t kept) {
    Held& held = HeldIn(sequence);
    const auto id = static_cast<llama_seq_id>(sequence);
    if (kept == held.tokens.size()) return;
    const bool is_cut = kept > 0 && library_.memory_seq_rm(memory, id, static_cast<llama_pos>(kept), -1);
    if (!is_cut) library_.memory_seq_rm(memory, id, -1, -1);
    held.Cut(is_cut ? kept : 0);
  };
  branches_.resize(std::max(branches_.size() + 1, texts.size()) - 1);
  struct Place {
    size_t source = 0, kept = 0;
  };
  std::vector<Place> places;
  std::vector<size_t> sequences;
  constexpr size_t kNone = SIZE_MAX;
  std::vector<size_t> owners(branches_.size() + 1, kNone);  // the texts that go on in a sequence
  for (const auto& text : texts) {
    Place place;
    for (size_t i = 0; i < owners.size(); ++i) {
      if (const size_t usable = HeldIn(i).Usable(text); usable > place.kept) place = {.source = i, .kept = usable};
    }
    const bool goes_on = place.kept > 0 && owners[place.source] == kNone;
    if (goes_on) owners[place.source] = places.size();
    sequences.push_back(goes_on ? place.source : kNone);
    places.push_back(place);
  }
  // Copies come first, because a text that goes on may keep less of it.
  for (size_t i = 0; i < texts.size(); ++i) {
    if (sequences[i] != kNone) continue;
    const auto free = std::ranges::find(owners, kNone);
    *free = i;
    const size_t to = sequences[i] = static_cast<size_t>(free - owners.begin());
    const auto [source, kept] = places[i];
    cut(to, 0);
    if (kept == 0) continue;
    library_.memory_seq_cp(memory, static_cast<llama_seq_id>(source), static_cast<llama_seq_id>(to), 0,
                           static_cast<llama_pos>(kept));
    HeldIn(to).Add(std::span(texts[i]).first(kept), {});
    HeldIn(to).least = HeldIn(source).least;
  }
  for (size_t i = 0; i < owners.size(); ++i) cut(i, owners[i] == kNone ? 0 : places[owners[i]].kept);
  return sequences;
}

OwnSequence::Evaluated OwnSequence::EvaluateBranches(std::span<const std::vector<llama_token>> texts, bool reuse,
                                                     const State* state, LogitsTaker* taker) {
  try {
    media_ = nullptr;
    if (!reuse) Forget();
    Evaluated evaluated;
    const size_t common = CommonOf(texts);
    const auto holds_common = [&](const Held& held) { return held.Usable(texts.front()) >= common; };
    if (!holds_common(held_) && std::ranges::none_of(branches_, holds_common)) {
      const auto beginning = std::span(texts.front()).first(common);
      const Begun begun = Begin(std::span(texts.front()).first(common + 1), nullptr, reuse, state);
      Evaluate(beginning.subspan(begun.kept), nullptr, 1);
      evaluated = {.tokens = common - begun.kept, .restored = begun.is_restored ? begun.kept : 0};
    }
    const std::vector<size_t> sequences = PlaceBranches(texts);
    size_t left = 0;
    for (size_t i = 0; i < texts.size(); ++i) left += texts[i].size() - HeldIn(sequences[i]).tokens.size();
    evaluated.tokens += left;
    const size_t room = std::min<size_t>(left, library_.n_batch(context_.get()));
    Batch batch(library_, room);
    for (size_t i = 0; i < texts.size(); ++i) {
      Held& held = HeldIn(sequences[i]);
      while (held.tokens.size() < texts[i].size()) {
        const size_t at = held.tokens.size();
        batch.Add(texts[i][at], static_cast<llama_pos>(at), sequences[i], at + 1 == texts[i].size());
        held.tokens.push_back(texts[i][at]);
        --left;
        if (batch.size() < room && left > 0) continue;
        if (cancelled_) Throw(WASINN_ERROR_TIMEOUT, "the generation was cancelled");
        Decode(batch.get());
        for (size_t n = 0; n < batch.size(); ++n) {
          if (batch.get().logits[n] != 0) taker->Take(library_.get_logits_ith(context_.get(), static_cast<int32_t>(n)));
        }
        batch.Clear();
      }
    }
    return evaluated;
  } catch (...) {
    Forget();
    throw;
  }
}

}  // namespace wasinn::llama
