#include "llama/prefill_context.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "common/reservation.h"
#include "common/throw.h"
#include "llama/own_sequence.h"

namespace wasinn::llama {

using backend::Throw;

namespace {

constexpr size_t kHead = 3;  // words

Settings WithPartSize(Settings settings) {
  settings.batch = settings.micro_batch = std::min({settings.batch, settings.micro_batch, PrefillContext::kPart});
  return settings;
}

}  // namespace

uint64_t PrefillContext::Bytes(const Model& model, const Settings& settings) {
  return ContextBytes(model, WithPartSize(settings), 1);
}

PrefillContext::PrefillContext(const Model& model, const Settings& settings, const Threads& threads, void* account,
                               std::function<void(Clock::duration)> give_way)
    : model_(model),
      library_(model.host().library()),
      threads_(threads),
      account_(account),
      give_way_(std::move(give_way)),
      part_(WithPartSize(settings).batch),
      context_(nullptr, {&library_}) {
  llama_context_params params = ContextParams(model, WithPartSize(settings));
  params.n_seq_max = params.n_outputs_max = 1;
  params.embeddings = false;
  params.n_threads = params.n_threads_batch = threads.wanted();
  params.abort_callback = IsCancelled;
  params.abort_callback_data = this;
  params.cb_eval = IsObserved;
  params.cb_eval_user_data = this;
  context_.reset(library_.init_from_model(model.get(), params));
  if (context_ == nullptr) Throw(WASINN_ERROR_RUNTIME, "parallel: no context for long prompts");
  threads.Attach(context_.get());
}

// llama.cpp writes a sequence as two words, its number of streams (one for each sequence), and the number of tokens in
// each: 0 for other sequences. A context only reads data with its own number of streams.
void PrefillContext::Copy(const Stream& from, const Stream& to) {
  const size_t bytes = library_.state_seq_get_size(from.context, from.id());
  backend::Reservation reservation(model_.host().services(), account_);
  reservation.Resize(bytes + to.of * sizeof(uint32_t));
  // With room before and after the data for empty streams.
  std::vector<uint32_t> words(bytes / sizeof(uint32_t) + to.of + 1);
  uint32_t* const written = words.data() + to.number;
  if (library_.state_seq_get_data(from.context, reinterpret_cast<uint8_t*>(written), bytes, from.id()) != bytes) {
    Throw(WASINN_ERROR_RUNTIME, "llama.cpp cannot copy a sequence");
  }
  uint32_t* const first = written + from.number - to.number;
  std::copy_n(std::array{written[0], written[1], to.of}.begin(), kHead, first);
  std::fill_n(first + kHead, to.number, 0);
  const size_t size = bytes + to.of * sizeof(uint32_t) - from.of * sizeof(uint32_t);
  const llama_memory_t memory = library_.get_memory(to.context);
  library_.memory_seq_rm(memory, to.id(), -1, -1);
  if (library_.state_seq_set_data(to.context, reinterpret_cast<const uint8_t*>(first), size, to.id()) == size) return;
  library_.memory_seq_rm(memory, to.id(), -1, -1);
  Throw(WASINN_ERROR_RUNTIME, "llama.cpp cannot load a copied sequence");
}

bool PrefillContext::IsEmpty(const Stream& stream) const {
  std::vector<uint32_t> words(kHead + stream.of, 1);
  const size_t bytes = words.size() * sizeof(uint32_t);
  return library_.state_seq_get_size(stream.context, stream.id()) == bytes &&
         library_.state_seq_get_data(stream.context, reinterpret_cast<uint8_t*>(words.data()), bytes, stream.id()) ==
             bytes &&
         words[kHead - 1] == stream.of && std::ranges::count(words.begin() + kHead, words.end(), 0u) == stream.of;
}

void PrefillContext::Clear() { library_.memory_clear(library_.get_memory(context_.get()), false); }

int PrefillContext::Evaluate(std::span<const llama_token> part, const std::atomic<bool>& cancelled) {
  const Threads::Lease lease(threads_, context_.get());
  cancelled_ = &cancelled;
  lease_ = &lease;
  // The library does not write to them.
  const int failed = library_.decode(
      context_.get(), library_.batch_get_one(const_cast<llama_token*>(part.data()), static_cast<int32_t>(part.size())));
  lease_ = nullptr;
  return failed;
}

// llama.cpp asks for each operation whether to stop after it, and reports it. Operations between two large ones are
// computed with the second.
bool PrefillContext::IsObserved(ggml_tensor* operation, bool before, void* self) {
  auto& mine = *static_cast<PrefillContext*>(self);
  const bool is_attention = operation->op == GGML_OP_FLASH_ATTN_EXT;
  Clock::duration& expected = is_attention ? mine.attention_time_ : mine.product_time_;
  if (!before) {
    expected = std::max(Clock::now() - mine.begun_, expected * 7 / 8);
    return true;
  }
  if (!is_attention && operation->op != GGML_OP_MUL_MAT && operation->op != GGML_OP_MUL_MAT_ID) return false;
  mine.give_way_(expected);
  mine.begun_ = Clock::now();
  return true;
}

}  // namespace wasinn::llama
