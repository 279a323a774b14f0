#include "llama/media_prompt.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "common/throw.h"
#include "llama/library_call.h"
#include "llama/log_scope.h"
#include "llama/model.h"
#include "llama/projector.h"
#include "llama/prompt.h"

namespace wasinn::llama {

using backend::Throw;

namespace {

// Decoding an image with the most pixels takes about 300 MB.
constexpr CallLimits kMediaLimits = {
    .bytes = uint64_t{2} << 30, .steps = uint64_t{1} << 36, .stack = 0, .stack_of_call = 8 << 20};
constexpr size_t kEncodeStack = 8 << 20, kMaxFiles = 64;

// Each file must be of a kind that the projector accepts, and each text a valid prompt.
void CheckParts(const Model& model, const Projector& projector, std::span<const MediaPart> parts, size_t capacity) {
  size_t texts = 0, files = 0;
  for (const MediaPart& part : parts) {
    if (part.kind == MediaPart::Kind::kText) {
      CheckUtf8(part.data);
      texts += part.data.size();
      continue;
    }
    const bool is_image = part.kind == MediaPart::Kind::kImage;
    if (is_image ? !projector.sees() : !projector.hears()) {
      Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "the model's projector accepts no {}", is_image ? "images" : "sounds");
    }
    if (++files > kMaxFiles) Throw(WASINN_ERROR_TOO_LARGE, "a prompt has at most {} images and sounds", kMaxFiles);
  }
  CheckTextLength(model, texts, capacity);
}

}  // namespace

MediaPrompt::MediaPrompt(const Model& model, std::span<const MediaPart> parts, size_t capacity,
                         const std::atomic<bool>& cancelled, void* account)
    : model_(model),
      projector_(*model.projector()),
      account_(account),
      reservation_(model.host().services(), account),
      media_(nullptr, {&projector_.library()}) {
  CheckParts(model, projector_, parts, capacity);
  Make(parts, cancelled);
  List(capacity);
}

void MediaPrompt::Make(std::span<const MediaPart> parts, const std::atomic<bool>& cancelled) {
  std::vector<wasinn_llama_part> list;
  size_t text = 0;
  for (const MediaPart& part : parts) {
    const bool is_text = part.kind == MediaPart::Kind::kText;
    if (is_text && part.data.empty()) continue;
    if (is_text) text += part.data.size();
    const int kind = is_text                                ? WASINN_LLAMA_TEXT
                     : part.kind == MediaPart::Kind::kImage ? WASINN_LLAMA_IMAGE
                                                            : WASINN_LLAMA_SOUND;
    list.push_back({.kind = kind, .data = part.data.data(), .size = part.data.size()});
  }
  CallLimits limits = kMediaLimits;
  limits.stack = StackForText(text);
  RunLibraryCall(
      "the prompt", {.cancelled = &cancelled, .reservation = &reservation_}, limits, [&](wasinn_llama_call* call) {
        const LogScope scope(model_.host().log(), false);
        wasinn_llama_media* made = nullptr;
        const int status = projector_.library().media_new(projector_.get(), list.data(), list.size(), call, &made);
        media_.reset(made);
        return status;
      });
}

void MediaPrompt::List(size_t capacity) {
  const MediaLibrary& library = projector_.library();
  for (size_t i = 0; i < library.media_size(media_.get()); ++i) {
    wasinn_llama_chunk chunk = {};
    library.media_chunk(media_.get(), i, &chunk);
    if (chunk.tokens == nullptr) {
      MediaSpan& span = spans_.emplace_back(MediaSpan{.begin = tokens_.size(),
                                                      .count = chunk.count,
                                                      .positions = static_cast<size_t>(chunk.positions),
                                                      .digest = {}});
      std::copy_n(chunk.digest, span.digest.size(), span.digest.begin());
      chunks_.push_back({.index = i, .at_once = chunk.all_at_once != 0, .reservation = {}, .numbers = {}});
      if (chunk.all_at_once != 0) most_at_once_ = std::max(most_at_once_, chunk.count);
      tokens_.insert(tokens_.end(), chunk.count, LLAMA_TOKEN_NULL);
    } else {
      tokens_.insert(tokens_.end(), chunk.tokens, chunk.tokens + chunk.count);
    }
  }
  if (tokens_.size() <= capacity) return;
  Throw(WASINN_ERROR_PROMPT_TOO_LONG, "the prompt has {} tokens, {} of them for images and sounds: the context has {}",
        tokens_.size(), std::ranges::count(tokens_, LLAMA_TOKEN_NULL), capacity);
}

size_t MediaPrompt::SpanAt(size_t token) const {
  const auto after = std::ranges::upper_bound(spans_, token, {}, &MediaSpan::begin);
  if (after == spans_.begin() || std::prev(after)->end() <= token) return spans_.size();
  return static_cast<size_t>(std::prev(after) - spans_.begin());
}

size_t MediaPrompt::NextBegin(size_t token) const {
  const auto next = std::ranges::lower_bound(spans_, token, {}, &MediaSpan::begin);
  return next == spans_.end() ? tokens_.size() : next->begin;
}

void MediaPrompt::Encode(size_t token, const std::atomic<bool>& cancelled) {
  for (size_t i = 0; i < spans_.size(); ++i) {
    if (spans_[i].end() > token && chunks_[i].numbers.empty()) EncodeOne(i, cancelled);
  }
}

void MediaPrompt::EncodeOne(size_t span, const std::atomic<bool>& cancelled) {
  const LlamaLibrary& library = model_.host().library();
  const size_t count = spans_[span].count * static_cast<size_t>(library.model_n_embd_inp(model_.get()));
  backend::Reservation reservation(model_.host().services(), account_);
  reservation.Resize(count * sizeof(float));
  std::vector<float> numbers(count);
  CallLimits limits = kMediaLimits;
  limits.stack = kEncodeStack;
  const auto turn = projector_.Turn(cancelled);
  const backend::ThreadLease threads(&model_.host().spare_threads(), model_.config().defaults.threads);
  // The host pays for memory that the projector keeps for the next file.
  backend::Reservation passing;
  RunLibraryCall("the projector", {.cancelled = &cancelled, .reservation = &passing}, limits,
                 [&](wasinn_llama_call* call) {
                   const LogScope scope(model_.host().log(), false);
                   return projector_.library().media_encode(media_.get(), chunks_[span].index, threads.count(),
                                                            numbers.data(), call);
                 });
  if (!std::ranges::all_of(numbers, [](float number) { return std::isfinite(number); })) {
    Throw(WASINN_ERROR_RUNTIME, "the projector computes a value that is not a number");
  }
  chunks_[span].reservation = std::move(reservation);
  chunks_[span].numbers = std::move(numbers);
}

std::vector<llama_pos> MediaPrompt::Positions(size_t span, llama_pos from) const {
  std::vector<llama_pos> positions(spans_[span].count * (is_mrope() ? 4 : 1));
  projector_.library().media_positions(media_.get(), chunks_[span].index, from, positions.data());
  return positions;
}

bool MediaPrompt::is_mrope() const { return projector_.is_mrope(); }

}  // namespace wasinn::llama
