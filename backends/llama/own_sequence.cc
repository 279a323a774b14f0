#include "llama/own_sequence.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "common/throw.h"
#include "llama/log_scope.h"
#include "llama/texts.h"

namespace wasinn::llama {

using backend::Throw;

namespace {

constexpr uint32_t kContextStep = 256;  // llama.cpp rounds the size of the KV cache up to it
constexpr int kAborted = 2, kNoRoom = 1;
// The description of a computation, without its numbers.
constexpr uint64_t kGraphBytes = 2 << 20, kGraphBytesPerLayer = 64 << 10;

void CheckContextBytes(uint64_t needed, uint64_t most, const Settings& settings) {
  if (most == 0 || needed <= most) return;
  Throw(WASINN_ERROR_TOO_LARGE,
        "a context of {} tokens (ctx-size) with ubatch-size {} takes {} bytes: no more than {} are allowed",
        settings.context, settings.micro_batch, needed, most);
}

}  // namespace

uint64_t ContextBytes(const Model& model, const Settings& settings, uint32_t sequences) {
  const ModelScan& scan = model.scan();
  const uint64_t n = std::max<uint32_t>(sequences, 1);
  const uint64_t tokens = (uint64_t{settings.context} + kContextStep - 1) / kContextStep * kContextStep;
  const uint64_t at_once = settings.embedding ? tokens : std::min<uint64_t>(settings.micro_batch, tokens * n);
  const uint64_t cache = scan.causal ? tokens * n * settings.cache.BytesPerToken(model.host().library(), scan) : 0;
  const uint64_t state = n * scan.layers * scan.state_length * sizeof(float);
  // For the current layer: inputs and outputs, queries, keys and values, the feed-forward part; then the attention
  // mask, also as float16, and for each head without flash attention and for encoders like T5's.
  uint64_t wide = 4 * scan.embedding + scan.heads * (scan.key_length + scan.value_length) + 3 * scan.feed_forward;
  // The result of an adapter, before and after scaling.
  if (!model.config().loras.empty()) wide += 2 * std::max(scan.embedding, scan.feed_forward);
  const bool for_each = model.encodes() || settings.cache.flash == LLAMA_FLASH_ATTN_TYPE_DISABLED;
  const uint64_t seen = tokens * (for_each ? 2 + 2 * scan.heads : 2);
  const uint64_t values = at_once * (wide + seen) * sizeof(float);
  // Once where they are computed, once where they are read. With embeddings, for every token.
  const uint64_t outputs = settings.embedding ? at_once : std::max<uint64_t>(n, settings.outputs);
  const uint64_t logits = 2 * outputs * (model.vocabulary_size() + scan.embedding) * sizeof(float);
  // The numbers of the tokens in each sequence.
  const uint64_t texts = (settings.branches ? settings.outputs : 0) * tokens * sizeof(llama_token);
  return cache + state + values + logits + texts + kGraphBytes + scan.layers * kGraphBytesPerLayer;
}

llama_context_params ContextParams(const Model& model, const Settings& settings) {
  llama_context_params params = model.host().library().context_default_params();
  params.n_ctx = settings.context;
  params.n_batch = settings.embedding ? settings.context : settings.batch;
  params.n_ubatch = settings.embedding ? settings.context : settings.micro_batch;
  params.embeddings = settings.embedding;
  // Room for the logits of only this many tokens.
  if (!settings.embedding) params.n_outputs_max = settings.outputs;
  // Only if needed: llama.cpp then takes 100 µs more for each batch.
  params.kv_unified = settings.branches;
  if (settings.branches) params.n_seq_max = settings.outputs;
  // For models that do not say how to pool the embeddings of tokens.
  if (settings.embedding && !model.scan().has_pooling) params.pooling_type = LLAMA_POOLING_TYPE_MEAN;
  params.no_perf = true;
  settings.cache.Check(model.host().library(), model.scan());
  params.type_k = settings.cache.keys;
  params.type_v = settings.cache.values;
  params.flash_attn_type = settings.cache.flash;
  return params;
}

// Moving packed keys unpacks them, for which llama.cpp needs a matrix that not all models have.
bool CanShift(const Model& model, const CacheSettings& cache, llama_context* context) {
  const LlamaLibrary& library = model.host().library();
  const llama_memory_t memory = library.get_memory(context);
  return memory != nullptr && !cache.packs_keys() && !model.recurrent() && library.memory_can_shift(memory);
}

void ShiftSequence(const LlamaLibrary& library, llama_memory_t memory, llama_seq_id sequence, size_t kept,
                   size_t discarded) {
  const auto from = static_cast<llama_pos>(kept), to = static_cast<llama_pos>(kept + discarded);
  if (!library.memory_seq_rm(memory, sequence, from, to)) {
    Throw(WASINN_ERROR_RUNTIME, "context-shift: llama.cpp cannot discard a part of the text");
  }
  library.memory_seq_add(memory, sequence, to, -1, from - to);
}

OwnSequence::OwnSequence(const Model& model, const Settings& settings, uint64_t max_bytes, void* account,
                         const std::atomic<bool>& cancelled)
    : model_(model),
      library_(model.host().library()),
      cancelled_(cancelled),
      threads_(model.host(), settings.threads),
      reservation_(model.host().services(), account),
      context_(nullptr, {&library_}),
      cache_(settings.cache),
      outputs_(settings.outputs),
      media_batch_(library_, model.get()) {
  const uint64_t needed = ContextBytes(model, settings, 1);
  CheckContextBytes(needed, max_bytes, settings);
  reservation_.Resize(needed);
  llama_context_params params = ContextParams(model, settings);
  params.n_threads = params.n_threads_batch = threads_.wanted();
  params.abort_callback = IsCancelled;
  params.abort_callback_data = this;
  const LogScope scope(model.host().log(), settings.log);
  context_.reset(library_.init_from_model(model.get(), params));
  if (context_ == nullptr) {
    Throw(WASINN_ERROR_RUNTIME, "a context of {} tokens: {}", settings.context,
          scope.Errors("llama.cpp gives no reason"));
  }
  if (!settings.embedding) model.CheckGenerates(context_.get());
  threads_.Attach(context_.get());
  // Without llama.cpp's rounding, which would exceed the checked size.
  capacity_ = std::min<size_t>(settings.context, library_.n_ctx_seq(context_.get()));
  can_shift_ = CanShift(model, cache_, context_.get());
}

void OwnSequence::UseAdapters(const AdapterSettings& adapters) {
  std::map<std::string, float> wanted = adapters.Scales();
  if (wanted == adapters_) return;
  Forget();
  std::vector<llama_adapter_lora*> loras;
  std::vector<float> scales;
  for (const auto& [name, scale] : wanted) {
    loras.push_back(model_.FindLora(name));
    scales.push_back(scale);
  }
  if (library_.set_adapters_lora(context_.get(), loras.data(), loras.size(), scales.data()) != 0) {
    Throw(WASINN_ERROR_RUNTIME, "lora: llama.cpp cannot use these adapters");
  }
  adapters_ = std::move(wanted);
}

bool OwnSequence::IsCancelled(void* self) { return static_cast<OwnSequence*>(self)->cancelled_; }

void OwnSequence::Forget() {
  held_.Cut(0);
  branches_.clear();
  if (const llama_memory_t memory = library_.get_memory(context_.get())) library_.memory_clear(memory, false);
}

Sequence::Begun OwnSequence::Begin(std::span<const llama_token> tokens, MediaPrompt* media, bool reuse,
                                   const State* state) {
  media_ = media;
  KeepOneBranch(tokens);
  const auto spans = Spans(media);
  size_t kept = reuse ? held_.Usable(tokens, spans) : 0;
  const size_t usable = state == nullptr ? 0 : state->held.Usable(tokens, spans);
  bool is_restored = false;
  if (usable > kept) {
    Held held = state->held;
    held_.Cut(0);  // even if the state does not fit
    is_restored = LoadSequence(library_, context_.get(), 0, *state);
    if (is_restored) held_ = std::move(held);
    kept = is_restored ? usable : 0;
  }
  const llama_memory_t memory = library_.get_memory(context_.get());
  const bool cut = kept > 0 && (kept == held_.tokens.size() ||
                                (!model_.recurrent() && library_.memory_seq_rm(memory, 0, held_.Position(kept), -1)));
  if (!cut) {
    Forget();
    return {};
  }
  held_.Cut(kept);
  return {kept, is_restored};
}

bool OwnSequence::Cut(size_t n) {
  const bool cut = library_.memory_seq_rm(library_.get_memory(context_.get()), 0, held_.Position(n), -1);
  if (cut) {
    held_.Cut(n);
  } else {
    Forget();
  }
  return cut;
}

void OwnSequence::Shift(size_t kept, size_t discarded) {
  ShiftSequence(library_, library_.get_memory(context_.get()), 0, kept, discarded);
  held_.Shift(kept, discarded);
}

StatePtr OwnSequence::Save(backend::Reservation reservation) {
  State state{.reservation = std::move(reservation), .kind = kind(), .held = held_, .bytes = {}};
  SaveSequence(model_, context_.get(), 0, &state);
  return std::make_shared<const State>(std::move(state));
}

void OwnSequence::Evaluate(std::span<const llama_token> tokens, LogitsTaker* taker, size_t rows) {
  try {
    if (media_ != nullptr) media_->Encode(held_.tokens.size(), cancelled_);
    for (size_t wanted = tokens.size() - rows; !tokens.empty();) {
      if (cancelled_) Throw(WASINN_ERROR_TIMEOUT, "the generation was cancelled");
      const size_t span = media_ == nullptr ? 0 : media_->SpanAt(held_.tokens.size());
      const bool is_text = media_ == nullptr || span == media_->spans().size();
      const size_t n = is_text ? EvaluateText(tokens, taker != nullptr, wanted) : EvaluateMedia(span, tokens);
      held_.Add(tokens.first(n), Spans(media_));
      for (size_t i = wanted; taker != nullptr && i < n; ++i) {
        taker->Take(library_.get_logits_ith(context_.get(), static_cast<int32_t>(i)));
      }
      tokens = tokens.subspan(n);
      wanted -= std::min(wanted, n);
    }
  } catch (...) {
    Forget();
    throw;
  }
}

size_t OwnSequence::EvaluateText(std::span<const llama_token> left, bool has_logits, size_t wanted) {
  const size_t most = std::min<size_t>(library_.n_batch(context_.get()), wanted + outputs_);
  size_t n = std::min(left.size(), most);
  const size_t at = held_.tokens.size();
  if (media_ != nullptr && at < media_->tokens().size()) n = std::min(n, media_->NextBegin(at) - at);
  // The library does not write to them.
  llama_batch batch = library_.batch_get_one(const_cast<llama_token*>(left.data()), static_cast<int32_t>(n));
  // llama.cpp would continue at the last position, which is not an image's largest.
  positions_.resize(n);
  std::iota(positions_.begin(), positions_.end(), held_.Position(at));
  if (!held_.media.empty()) batch.pos = positions_.data();
  if (has_logits) {
    has_logits_.assign(n, 0);
    for (size_t i = wanted; i < n; ++i) has_logits_[i] = 1;
    batch.logits = has_logits_.data();
  }
  Decode(batch);
  return n;
}

size_t OwnSequence::EvaluateMedia(size_t span, std::span<const llama_token> left) {
  const MediaSpan& of_all = media_->spans()[span];
  const size_t at = held_.tokens.size(), done = at - of_all.begin;
  const bool at_once = media_->is_at_once(span);
  const size_t n = at_once ? of_all.count : std::min<size_t>(of_all.count - done, library_.n_batch(context_.get()));
  const llama_batch batch = media_batch_.Fill(*media_, {.span = span,
                                                        .done = done,
                                                        .count = n,
                                                        .from = held_.Position(of_all.begin),
                                                        .sequence = 0,
                                                        .is_last = n == left.size()});
  const NotCausal attention(library_, context_.get(), at_once);
  Decode(batch);
  return n;
}

void OwnSequence::Decode(const llama_batch& batch) {
  const LogScope scope(model_.host().log(), false);
  const Threads::Lease lease(threads_, context_.get());
  const int failed = model_.encodes() ? library_.encode(context_.get(), batch) : library_.decode(context_.get(), batch);
  if (failed == 0) return;
  if (failed == kAborted) Throw(WASINN_ERROR_TIMEOUT, "the generation was cancelled");
  if (failed == kNoRoom) Throw(WASINN_ERROR_CONTEXT_FULL, "the context has no room for more tokens");
  Throw(WASINN_ERROR_RUNTIME, "llama.cpp cannot evaluate the tokens (error {}): {}", failed,
        scope.Errors("it gives no reason"));
}

llama_token OwnSequence::Next(std::span<const llama_token> tokens, Sampler* sampler) {
  Evaluate(tokens, sampler, 1);
  return sampler->Choose();
}

std::vector<float> OwnSequence::Embed(std::span<const llama_token> tokens, int normalize) {
  Forget();
  Evaluate(tokens, nullptr, 1);
  const enum llama_pooling_type pooling = library_.pooling_type(context_.get());
  const float* values = pooling == LLAMA_POOLING_TYPE_NONE ? library_.get_embeddings_ith(context_.get(), -1)
                                                           : library_.get_embeddings_seq(context_.get(), 0);
  if (values == nullptr) Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "the model makes no embeddings");
  // A model that ranks or classifies texts has one number for each label there, and nothing after them.
  const size_t n =
      ranks() ? library_.model_n_cls_out(model_.get()) : static_cast<size_t>(library_.model_n_embd_out(model_.get()));
  std::vector<float> embedding(values, values + n);
  if (!std::ranges::all_of(embedding, [](float value) { return std::isfinite(value); })) {
    Throw(WASINN_ERROR_RUNTIME, "the model computes a value that is not a number");
  }
  if (!ranks()) Normalize(embedding, normalize);
  return embedding;
}

}  // namespace wasinn::llama
