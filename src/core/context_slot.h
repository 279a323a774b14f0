// What a context computes on: a slot of its own, or one that it has for the time of a compute. Here stands what may be
// cancelled there.
#pragma once

#include <wasinn/backend.h>

#include <memory>
#include <utility>

#include "core/call_gate.h"
#include "core/graph.h"
#include "core/interruptible.h"

namespace wasinn::core {

// One thread at a time, but for Cancel.
class ContextSlot {
 public:
  explicit ContextSlot(std::shared_ptr<const Graph> graph) : graph_(std::move(graph)) {}
  ~ContextSlot() { Close(); }
  ContextSlot(const ContextSlot&) = delete;
  ContextSlot& operator=(const ContextSlot&) = delete;

  // `options` but for what interrupts it. `most` computes of the graph run at once. `of_steps`: for contexts within it.
  Status Open(wasinn_slot_options options, uint32_t most, Interruptible& opening, const ContextResources& of_steps);
  // Before what is bound there goes.
  void Close();
  // Else it has a slot for the time of a compute only.
  bool is_own() const { return is_own_; }

  // NULL between two computes of a context that has none of its own.
  wasinn_backend_slot* get() const { return slot_; }
  const Graph& graph() const { return *graph_; }
  const std::shared_ptr<const Graph>& shared_graph() const { return graph_; }
  const wasinn_backend& table() const { return graph_->backend().table(); }
  // Of a function of that table, for this slot.
  Status StatusOf(wasinn_error* error) const { return graph_->Take(error); }

  // Where the slot is not its own.
  class Loan {
   public:
    explicit Loan(ContextSlot& borrower) : borrower_(borrower) {}
    ~Loan() {
      if (borrower_.slot_ != nullptr) borrower_.GiveBack();
    }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    // A Cancel meanwhile interrupts the making of a slot.
    Status Begin() { return borrower_.Borrow(); }
    // The slot is not for this context once more: its computes leave memory there.
    void ResetAtEnd() { borrower_.resets_ = true; }

   private:
    ContextSlot& borrower_;
  };
  // Whether the slot is the one of the last loan and nobody had it since: all that was bound there is bound still.
  bool is_as_left() const { return is_as_left_; }

  // A call that the backend's cancel may interrupt, however it ends. Its end waits for a cancel that is under way.
  class Call {
   public:
    explicit Call(ContextSlot& slot) : gate_(slot.gate_) { gate_.Enter(); }
    ~Call() { gate_.Leave(); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    // The backend has reported the end, perhaps within a cancel: none begins any more.
    void Close() { gate_.Close(); }

   private:
    CallGate& gate_;
  };
  // From any thread: a call that runs ends soon.
  void Cancel();

 private:
  Status TakeFrom(SlotPool& shared, const wasinn_slot_options& options);
  Status Borrow();
  void GiveBack();

  const std::shared_ptr<const Graph> graph_;
  wasinn_backend_slot* slot_ = nullptr;
  bool is_own_ = true;
  bool has_right_ = false;  // to a slot of its own, where slots are shared
  bool is_pooled_ = false;  // one of its own that another context has next
  bool is_as_left_ = true;
  bool resets_ = false;  // at the end of the loan
  uint64_t max_bytes_ = 0;
  CallGate gate_;      // of slot_, which stays while a call is inside
  CancelHook making_;  // of a slot, within a compute
};

}  // namespace wasinn::core
