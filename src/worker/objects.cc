#include "worker/objects.h"

#include <utility>

namespace wasinn::worker {

void Gate::Register(void* gate, void (*cancel)(void*), void* arg) {
  auto& it = *static_cast<Gate*>(gate);
  const std::lock_guard lock(it.mutex_);
  it.cancel_ = cancel;
  it.arg_ = arg;
}

void Gate::InterruptRegistered() {
  const std::lock_guard lock(mutex_);
  if (cancel_ != nullptr) cancel_(arg_);
}

Part::Part(isolation::Segment segment, size_t bytes)
    : segment_(std::move(segment)),
      blob_{.struct_size = sizeof(wasinn_builder),
            .data = segment_.data(),
            .size = bytes,
            .path = nullptr,
            .owner = this,
            .retain = &Part::Retain,
            .release = &Part::Release} {}

wasinn_builder* Part::Make(isolation::Segment segment, size_t bytes) {
  return &(new Part(std::move(segment), bytes))->blob_;
}

void Part::Retain(void* part) { static_cast<Part*>(part)->references_.fetch_add(1, std::memory_order_relaxed); }

void Part::Release(void* part) {
  auto* it = static_cast<Part*>(part);
  if (it->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete it;
}

Graph::~Graph() {
  if (graph != nullptr) backend.table().unload(graph);
}

}  // namespace wasinn::worker
