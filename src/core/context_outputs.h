// The outputs of a context: which there are and which are wanted, where the bytes of each lie, and what is charged.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/context_inputs.h"
#include "core/context_slot.h"
#include "core/context_state.h"
#include "core/copy.h"
#include "core/guest_memory.h"
#include "core/ios.h"
#include "core/late_outputs.h"
#include "core/shared_tensor.h"
#include "core/tensor_memory.h"
#include "core/wanted_outputs.h"

namespace wasinn::core {

// An output that a call wants, in the memory of that call.
struct OnceOutput {
  uint32_t index = 0;
  bool by_name = false;   // in place of the index, as some models tell their outputs only by a compute:
  std::string_view name;  // that the host has
  std::span<uint8_t> buffer;
  uint64_t size = 0;  // what it has, also where the buffer is too small; 0: not known
};

class ContextOutputs {
 public:
  // `count`: of what is copied out.
  ContextOutputs(ContextSlot& slot, ContextState& state, const TensorMemory& memory, CopyCount& count);

  // Charges what the signature says, before the backend allocates it: so one of 4 GiB costs nothing.
  Status Open();
  // Whoever has no slot has no memory there: what is moved out of one is charged as it comes.
  void LeaveSlot();

  // As the functions of Context that are called so.
  Status Want(const Destination& destination);
  Status Select(std::span<const uint32_t> indices);
  Result<uint32_t> Find(std::string_view name) const;
  Status Get(uint32_t index, std::span<uint8_t> buffer, uint64_t& size);
  using BufferOf = std::function<Result<std::span<uint8_t>>(uint32_t dtype)>;
  Status Get(uint32_t index, const BufferOf& buffer_of, uint64_t& size);
  Result<TensorPtr> TakeOnce(uint32_t index);
  void Keep(std::span<const uint32_t> indices);

  // The course of a compute. Those of the last one are gone:
  void Begin();
  // The slot has memory for all that are bindable.
  Status Bind() { return bound_ ? Status() : BindAll(); }
  // The slot is another one.
  void ForgetBound() {
    bound_ = false;
    for (Output& output : outputs_) output.bound = nullptr;
  }
  void SetElsewhere(bool elsewhere) {
    elsewhere_ = elsewhere;
    if (elsewhere) ForgetBound();  // so that the views of own memory are set once more
  }
  // What only a run tells.
  Status Read() { return slot_.graph().has_late_outputs() ? ReadLate() : Status(); }
  // Out of the slot, which is another one's next.
  Status Move();
  // Charges what is held beyond the signature, which may not be true.
  Status Count() { return all_bindable_ && !elsewhere_ ? Status() : CountThoseInSlot(); }
  // Frees what can be freed. There is no output until the next compute.
  void Discard();
  // Whether computes leave more memory in a slot than its signature says.
  bool grow() const { return grow_ || outgrown_; }

  // For one compute: these are wanted, and no others. The framework writes them where they are to go, if it can and
  // none of `inputs` lies there.
  Status BeginOnce(std::span<OnceOutput> outputs, std::span<const OnceInput> inputs, const GuestMemory& memory);
  // Copies those that it could not.
  Status GiveOnce(std::span<OnceOutput> outputs);
  void EndOnce();

  // As in wasinn_compute_options.
  std::span<const uint32_t> kept() const { return kept_; }
  const WantedOutputs& wanted() const { return in_once_ ? wanted_once_ : wanted_; }
  // To the destinations that are wanted.
  Status Write(const GuestMemory& memory);
  std::span<const wasinn_io* const> ios() const { return late_ != nullptr ? late_->ios() : slot_.graph().outputs(); }
  // For good, with its memory where the backend gives it away. It is wanted and can be served.
  Result<TensorPtr> Take(uint32_t index);
  // What the names of `ios` belong to.
  std::shared_ptr<const void> owner() const;
  // Some may be made that nobody looks at.
  void SetOutgrown() { outgrown_ = true; }

 private:
  // What is known of an output beside the graph.
  struct Output {
    uint64_t fixed_bytes = 0;   // by its signature; 0 where that does not say
    wasinn_tensor view{};       // of one of a fixed size, after a compute; struct_size 0: none
    BufferPool::Buffer memory;  // of one that is bindable: the backend has it, or gets it for the next compute
    TensorPtr moved;            // out of a slot that others have by now
    void* lent = nullptr;       // in place of `memory`: the guest's, for one compute
    void* bound = nullptr;      // which of them the backend has
    bool bindable = false;
    bool once = false;  // wanted by a call that wants nothing else
  };

  // The bytes of an output by its signature; 0 where that does not fix them.
  uint64_t FixedSize(uint32_t index) const { return index < outputs_.size() ? outputs_[index].fixed_bytes : 0; }
  // Of these bytes, those that are charged with the slot, from its making.
  uint64_t BytesInSlot(uint32_t index) const {
    return slot_.is_own() && index < outputs_.size() && !outputs_[index].bindable ? outputs_[index].fixed_bytes : 0;
  }
  // Of the last compute: in the memory that the backend was given for it.
  bool LiesInOwn(uint32_t index) const {
    return !elsewhere_ && index < outputs_.size() &&
           (outputs_[index].memory.data() != nullptr || outputs_[index].lent != nullptr);
  }
  bool WasMoved(uint32_t index) const { return index < outputs_.size() && outputs_[index].moved != nullptr; }
  // The view of the last compute, if it was kept; else NULL.
  const wasinn_tensor* Seen(uint32_t index) const {
    return state_.has_outputs() && index < outputs_.size() && outputs_[index].view.struct_size != 0
               ? &outputs_[index].view
               : nullptr;
  }
  Status View(uint32_t index, wasinn_tensor& view) const;
  Status Check(uint32_t index) const;
  Status CheckMemory(uint32_t index, const char* memory) const;
  Status CheckWantable(uint32_t index) const;
  void SetWanted();
  Status CheckOnce(std::span<OnceOutput> outputs);
  void SelectOnce(std::span<const OnceOutput> outputs);
  bool CanWriteInPlace(const OnceOutput& output, const GuestMemory& memory) const;
  Status BindAll();
  Status ReadLate();
  Status CountThoseInSlot();
  void ForgetMoved();
  bool CanTake(uint32_t index) const;
  Result<TensorPtr> GiveOwn(uint32_t index);
  Result<TensorPtr> TakeFromSlot(uint32_t index, const wasinn_tensor& view);
  Status WriteOne(const Destination& destination, std::span<const uint8_t> bytes, const GuestMemory& memory);

  ContextSlot& slot_;
  ContextState& state_;
  const TensorMemory memory_;
  CopyCount& count_;
  std::vector<Output> outputs_;  // that the graph knows
  Charge static_, dynamic_;      // what signatures say, and what is held beyond
  Charge late_bytes_;            // of late_
  WantedOutputs wanted_, wanted_once_;
  std::vector<uint32_t> kept_;
  std::shared_ptr<const LateOutputs> late_;  // where the graph does not know its outputs
  std::vector<TensorPtr> taken_;             // outputs of the last compute that were given away
  bool bound_ = false;                       // all that are bindable
  bool elsewhere_ = false;                   // but for the last compute's
  bool all_bindable_ = true;                 // and so nobody asks the backend where they are
  bool grow_ = false;                        // some have no fixed size
  bool outgrown_ = false;                    // one was larger than its signature said
  bool in_once_ = false;                     // a call is under way that wants wanted_once_
};

}  // namespace wasinn::core
