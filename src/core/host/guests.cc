#include "core/host/guests.h"

#include "core/host/guest.h"

namespace wasinn::core {

void Guests::Join(const Guest& guest) {
  const std::lock_guard lock(mutex_);
  open_.insert(&guest);
}

void Guests::Leave(const Guest& guest) noexcept {
  const std::lock_guard lock(mutex_);
  if (open_.erase(&guest) != 0) AddWhatItDid(guest.Statistics(), closed_);
}

void Guests::AddWhatItDid(const wasinn_statistics& stats, Sum& sum) {
  sum.copies_in += stats.copies_in;
  sum.copies_out += stats.copies_out;
  sum.bytes_in += stats.bytes_in;
  sum.bytes_out += stats.bytes_out;
  sum.model_bytes_copied += stats.model_bytes_copied;
}

Guests::Sum Guests::Read() const {
  const std::lock_guard lock(mutex_);
  Sum sum = closed_;
  sum.open = open_.size();
  for (const Guest* guest : open_) {
    const wasinn_statistics stats = guest->Statistics();
    AddWhatItDid(stats, sum);
    sum.graphs += stats.graphs;
    sum.contexts += stats.contexts;
    sum.tensors += stats.tensors;
    sum.model_bytes += stats.model_bytes;
    sum.tensor_bytes += stats.tensor_bytes;
  }
  return sum;
}

}  // namespace wasinn::core
