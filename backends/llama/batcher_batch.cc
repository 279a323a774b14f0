// Fills a batch, and takes its results.
#include <algorithm>
#include <exception>
#include <utility>

#include "llama/batcher.h"

namespace wasinn::llama {

size_t Batcher::Slot::TextLeft() const {
  const size_t left = Left();
  if (left == 0 || evaluation->work.media == nullptr) return left;
  const MediaPrompt& media = *evaluation->work.media;
  const size_t at = evaluation->done;
  if (media.SpanAt(at) < media.spans().size()) return 0;
  // Generated tokens follow the prompt.
  return at < media.tokens().size() ? std::min(left, media.NextBegin(at) - at) : left;
}

void Batcher::Add(Slot* slot, size_t n) {
  const auto sequence = static_cast<llama_seq_id>(slot - slots_.data());
  const Evaluation& call = *slot->evaluation;
  const llama_pos position = slot->held.Position(slot->held.tokens.size());
  for (size_t i = 0; i < n; ++i) {
    const auto at = static_cast<size_t>(batch_.n_tokens);
    batch_.token[at] = call.work.tokens[call.done + i];
    batch_.pos[at] = position + static_cast<llama_pos>(i);
    batch_.n_seq_id[at] = 1;
    batch_.seq_id[at][0] = sequence;
    batch_.logits[at] = call.done + i + 1 == call.work.tokens.size() ? 1 : 0;
    slot->last_index = batch_.n_tokens++;
  }
  slot->in_batch = n;
  decoding_.push_back(call.cancelled);
}

// Includes slots that got a token and will want the next one, for as long as choosing usually takes.
bool Batcher::IsHeldUp(const Slot& slot) const {
  constexpr auto kToChoose = std::chrono::milliseconds(20);
  if (!slot.taken || !slot.generates || slot.Left() > 1) return false;
  return slot.evaluation != nullptr ||
         Clock::now() - slot.used < std::max<Clock::duration>(kToChoose, 2 * last_decode_);
}

bool Batcher::IsAnyHeldUp() const {
  return std::ranges::any_of(slots_, [this](const Slot& slot) { return IsHeldUp(slot); });
}

// Images have embeddings instead of tokens, and llama.cpp takes only one kind in a batch. So images have every other
// batch, with as much of one image as prompts have in theirs; all of it if its tokens see each other.
bool Batcher::FillMedia() {
  const bool is_any_text = std::ranges::any_of(slots_, [](const Slot& slot) { return slot.TextLeft() > 0; });
  if (std::exchange(was_media_, false) && is_any_text) return false;
  size_t i = media_slot_;
  do {
    i = (i + 1) % slots_.size();
  } while (!slots_[i].IsAtMedia() && i != media_slot_);
  Slot& slot = slots_[i];
  if (!slot.IsAtMedia()) return false;
  const Evaluation& call = *slot.evaluation;
  const MediaPrompt& media = *call.work.media;
  const size_t index = media.SpanAt(call.done);
  const MediaSpan& span = media.spans()[index];
  const size_t done = call.done - span.begin;
  at_once_ = media.is_at_once(index);
  const size_t room = IsAnyHeldUp() ? std::min<size_t>(PrefillContext::kPart, batch_size_) : batch_size_;
  const size_t n = at_once_ ? span.count : std::min(span.count - done, room);
  const MediaBatch::Part part = {.span = index,
                                 .done = done,
                                 .count = n,
                                 .from = slot.held.Position(span.begin),
                                 .sequence = static_cast<llama_seq_id>(i),
                                 .is_last = n == slot.Left()};
  try {
    media_part_ = media_batch_.Fill(media, part);
  } catch (...) {  // out of memory
    Finish(&slot, std::current_exception());
    return false;
  }
  for (Slot& other : slots_) other.in_batch = 0;
  slot.in_batch = n;
  slot.last_index = static_cast<int32_t>(n - 1);
  decoding_.assign(1, call.cancelled);
  generating_ = 0;
  media_slot_ = i;
  return was_media_ = true;
}

// First one token of each generating slot, then equal shares of the remaining room for prompts; short ones leave the
// rest of their shares to longer ones. Each slot has room for a token, so none waits for another's prompt.
void Batcher::FillBatch() {
  batch_.n_tokens = 0;
  decoding_.clear();
  prompts_.clear();
  for (Slot& slot : slots_) {
    slot.in_batch = 0;
    const size_t left = slot.TextLeft();
    if (left == 1 && slot.Left() == 1) {
      Add(&slot, 1);
    } else if (left > 0 && !IsForPrefill(slot)) {
      prompts_.push_back(&slot);
    }
  }
  generating_ = static_cast<size_t>(batch_.n_tokens);
  std::ranges::sort(prompts_, {}, &Slot::TextLeft);
  size_t room = batch_size_ - generating_;
  for (size_t i = 0; i < prompts_.size() && room > 0; ++i) {
    const size_t part = std::min(prompts_[i]->TextLeft(), room / (prompts_.size() - i));
    Add(prompts_[i], part);
    room -= part;
  }
}

void Batcher::TakeResults(const std::exception_ptr& error) {
  for (Slot& slot : slots_) {
    if (slot.in_batch == 0) continue;
    if (error != nullptr) {
      Finish(&slot, error);
      continue;
    }
    Evaluation& call = *slot.evaluation;
    const auto evaluated = call.work.tokens.subspan(call.done, slot.in_batch);
    const MediaPrompt* const media = call.work.media;
    slot.held.Add(evaluated, media == nullptr ? std::span<const MediaSpan>() : media->spans());
    call.done += slot.in_batch;
    if (call.done < call.work.tokens.size() && !slot.wanted) continue;
    Finish(&slot, std::exchange(call.error, nullptr));
  }
}

// Holders choose tokens on their own threads, because a guest's settings may make that slow.
void Batcher::TakeLogits() {
  for (Slot& slot : slots_) {
    if (slot.in_batch == 0 || slot.in_batch < slot.Left()) continue;
    Evaluation& call = *slot.evaluation;
    if (call.work.taker == nullptr) continue;
    try {
      call.work.taker->Take(library_.get_logits_ith(context_.get(), slot.last_index));
    } catch (...) {
      call.error = std::current_exception();
    }
  }
}

}  // namespace wasinn::llama
