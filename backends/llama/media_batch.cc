#include "llama/media_batch.h"

#include <algorithm>

namespace wasinn::llama {

llama_batch MediaBatch::Fill(const MediaPrompt& prompt, const Part& part) {
  const std::vector<llama_pos> positions = prompt.Positions(part.span, part.from);
  const size_t all = prompt.spans()[part.span].count;
  positions_.clear();
  for (size_t at = part.done; at < positions.size(); at += all) {
    const auto first = positions.begin() + static_cast<ptrdiff_t>(at);
    positions_.insert(positions_.end(), first, first + static_cast<ptrdiff_t>(part.count));
  }
  sequence_ = part.sequence;
  sequence_counts_.assign(part.count, 1);
  sequences_.assign(part.count, &sequence_);
  logits_.assign(part.count, 0);
  if (part.is_last) logits_.back() = 1;
  llama_batch batch = {};
  batch.n_tokens = static_cast<int32_t>(part.count);
  // The library does not write to them.
  batch.embd = const_cast<float*>(prompt.Numbers(part.span)) + part.done * width_;
  batch.pos = positions_.data();
  batch.n_seq_id = sequence_counts_.data();
  batch.seq_id = sequences_.data();
  batch.logits = logits_.data();
  return batch;
}

}  // namespace wasinn::llama
