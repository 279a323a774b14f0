// What goes into a batch, and what comes out of it.
#include <algorithm>
#include <exception>
#include <utility>

#include "llama/batcher.h"

namespace wasinn::llama {

size_t Batcher::Place::TextLeft() const {
  const size_t left = Left();
  if (left == 0 || evaluation->work.media == nullptr) return left;
  const MediaPrompt& media = *evaluation->work.media;
  const size_t at = evaluation->done;
  if (media.SpanAt(at) < media.spans().size()) return 0;
  // Behind the prompt is what was generated.
  return at < media.tokens().size() ? std::min(left, media.NextBegin(at) - at) : left;
}

void Batcher::Add(Place* place, size_t n) {
  const auto sequence = static_cast<llama_seq_id>(place - places_.data());
  const Evaluation& call = *place->evaluation;
  const llama_pos position = place->held.Position(place->held.tokens.size());
  for (size_t i = 0; i < n; ++i) {
    const auto at = static_cast<size_t>(batch_.n_tokens);
    batch_.token[at] = call.work.tokens[call.done + i];
    batch_.pos[at] = position + static_cast<llama_pos>(i);
    batch_.n_seq_id[at] = 1;
    batch_.seq_id[at][0] = sequence;
    batch_.logits[at] = call.done + i + 1 == call.work.tokens.size() ? 1 : 0;
    place->last_index = batch_.n_tokens++;
  }
  place->in_batch = n;
  decoding_.push_back(call.cancelled);
}

// One that has its token and will want the next is so, too, for as long as it usually takes to choose one.
bool Batcher::IsHeldUp(const Place& place) const {
  constexpr auto kToChoose = std::chrono::milliseconds(20);
  if (!place.taken || !place.generates || place.Left() > 1) return false;
  return place.evaluation != nullptr ||
         Clock::now() - place.used < std::max<Clock::duration>(kToChoose, 2 * last_decode_);
}

bool Batcher::IsAnyHeldUp() const {
  return std::ranges::any_of(places_, [this](const Place& place) { return IsHeldUp(place); });
}

// What stands for the tokens of an image is no token, and llama.cpp takes only one of both in a batch. So these have a
// batch of their own every other time, and so much of one image as prompts have in others. Where its tokens see each other
// it is all of it.
bool Batcher::FillMedia() {
  const bool is_any_text = std::ranges::any_of(places_, [](const Place& place) { return place.TextLeft() > 0; });
  if (std::exchange(was_media_, false) && is_any_text) return false;
  size_t i = media_place_;
  do {
    i = (i + 1) % places_.size();
  } while (!places_[i].IsAtMedia() && i != media_place_);
  Place& place = places_[i];
  if (!place.IsAtMedia()) return false;
  const Evaluation& call = *place.evaluation;
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
                                 .from = place.held.Position(span.begin),
                                 .sequence = static_cast<llama_seq_id>(i),
                                 .is_last = n == place.Left()};
  try {
    of_media_ = media_batch_.Fill(media, part);
  } catch (...) {  // of memory
    Finish(&place, std::current_exception());
    return false;
  }
  for (Place& other : places_) other.in_batch = 0;
  place.in_batch = n;
  place.last_index = static_cast<int32_t>(n - 1);
  decoding_.assign(1, call.cancelled);
  generating_ = 0;
  media_place_ = i;
  return was_media_ = true;
}

// Those who generate first, a token of each; then of the prompts equal shares of the room that is left, and what short
// ones leave of theirs to longer ones. There is room for a token of each place: none waits for another one's prompt.
void Batcher::FillBatch() {
  batch_.n_tokens = 0;
  decoding_.clear();
  prompts_.clear();
  for (Place& place : places_) {
    place.in_batch = 0;
    const size_t left = place.TextLeft();
    if (left == 1 && place.Left() == 1) {
      Add(&place, 1);
    } else if (left > 0 && !IsForPrefill(place)) {
      prompts_.push_back(&place);
    }
  }
  generating_ = static_cast<size_t>(batch_.n_tokens);
  std::ranges::sort(prompts_, {}, &Place::TextLeft);
  size_t room = batch_size_ - generating_;
  for (size_t i = 0; i < prompts_.size() && room > 0; ++i) {
    const size_t part = std::min(prompts_[i]->TextLeft(), room / (prompts_.size() - i));
    Add(prompts_[i], part);
    room -= part;
  }
}

void Batcher::TakeResults(const std::exception_ptr& error) {
  for (Place& place : places_) {
    if (place.in_batch == 0) continue;
    if (error != nullptr) {
      Finish(&place, error);
      continue;
    }
    Evaluation& call = *place.evaluation;
    const auto evaluated = call.work.tokens.subspan(call.done, place.in_batch);
    const MediaPrompt* const media = call.work.media;
    place.held.Add(evaluated, media == nullptr ? std::span<const MediaSpan>() : media->spans());
    call.done += place.in_batch;
    if (call.done < call.work.tokens.size() && !place.wanted) continue;
    Finish(&place, std::exchange(call.error, nullptr));
  }
}

// Choosing is the holders' own, each on its thread: what one asked for may make it slow.
void Batcher::TakeLogits() {
  for (Place& place : places_) {
    if (place.in_batch == 0 || place.in_batch < place.Left()) continue;
    Evaluation& call = *place.evaluation;
    if (call.work.taker == nullptr) continue;
    try {
      call.work.taker->Take(library_.get_logits_ith(context_.get(), place.last_index));
    } catch (...) {
      call.error = std::current_exception();
    }
  }
}

}  // namespace wasinn::llama
