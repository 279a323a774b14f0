// The inputs of a context: their bytes, which the core owns or a guest lends, and what of them the slot has bound.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/context_slot.h"
#include "core/context_state.h"
#include "core/copy.h"
#include "core/guest_memory.h"
#include "core/shared_tensor.h"
#include "core/tensor.h"
#include "core/tensor_memory.h"

namespace wasinn::core {

// An input of a call that brings all of them, in the memory of that call.
struct OnceInput {
  uint32_t index;
  TensorDesc tensor;
  std::span<const uint8_t> bytes;
};

class ContextInputs {
 public:
  // Whoever changes an input ends the generation that is under way, for that may still read it. `count`: of what is
  // copied in. `by_reference`: policy.inputs.
  ContextInputs(ContextSlot& slot, ContextState& state, const TensorMemory& memory, CopyCount& count,
                bool by_reference);

  // As Context::SetInput.
  Status Set(uint32_t index, const TensorDesc& given, std::span<const uint8_t> bytes, const GuestMemory& memory);
  Status Set(uint32_t index, TensorPtr tensor);
  Status CheckIndex(uint32_t index) const;
  void UnsetAll();
  Status CheckAllSet() const;

  // For one compute: these are set, and no others. Those that are worth it stay where they are, if the framework can
  // read them there; of others the memory is kept for the next time.
  // They outlast the compute, and are described there as the framework shall see them.
  Status SetOnce(std::span<OnceInput> given, const GuestMemory& memory);
  void EndOnce();

  // Whether computes leave more memory in a slot than a new one has, for inputs of a size that is the guest's to choose.
  bool grow() const { return grow_; }

  // Inputs that lie in guest memory are bound for the time of one compute: between two, nothing here or in a framework
  // looks at an address of the guest's.
  bool any_lent() const { return n_lent_ > 0; }
  // The slot has some that are not set any more.
  bool any_left() const { return any_left_; }
  void UnbindLeft();
  // `memory`, which may be NULL, is the one of the call: whether it has what was lent.
  Status CheckLent(const GuestMemory* memory) const;
  // From here on they are inputs like others.
  Status CopyLent(const GuestMemory* memory);

  // The slot is another one: it has none of them.
  void ForgetBound() {
    for (Input& input : inputs_) input.in_slot = InSlot::kNothing;
  }
  // For one compute: binds what the slot does not have.
  class Binding {
   public:
    Binding(ContextInputs& inputs, const GuestMemory* memory) : inputs_(inputs), memory_(memory) {}
    ~Binding() {
      if (inputs_.any_lent()) inputs_.UnbindLent();
    }
    Binding(const Binding&) = delete;
    Binding& operator=(const Binding&) = delete;
    Status Begin() { return inputs_.BindAll(memory_); }

   private:
    ContextInputs& inputs_;
    const GuestMemory* const memory_;
  };

 private:
  // Memory of the context. It stays with it as long as inputs of this size are set.
  struct Own {
    ~Own() {
      if (given.release != nullptr) given.release(given.owner);
    }
    BufferPool::Buffer buffer;  // or
    wasinn_tensor given{};      // memory of the backend's
    uint8_t* data = nullptr;    // in one of them
    size_t bytes = 0;
    uint32_t dtype = WASINN_DTYPE_UNKNOWN;
    std::vector<int64_t> dims;
    bool looked_at = false;  // each time that it is set, by the core or the backend: text, bools

    TensorDesc desc() const;
  };
  // An input that stays in guest memory until it is computed on.
  struct Lent {
    TensorDesc tensor;  // as the framework shall see it
    GuestPlace place;
  };
  enum class InSlot : uint8_t {
    kNothing,
    kIt,     // as it is now
    kStale,  // something else: the slot was not here when that changed
    kLeft    // `own`, of a call that is over
  };
  // Its bytes lie in one of three places, or nowhere.
  struct Input {
    bool set = false;
    InSlot in_slot = InSlot::kNothing;
    Charge charge;  // of `own` and `lent`
    std::unique_ptr<Own> own;
    TensorPtr tensor;  // that the backend reads in place
    std::unique_ptr<Lent> lent;
    const OnceInput* once = nullptr;  // of the call that is under way, which lends it
  };

  static bool HasPlaceFor(const Input& input, const TensorDesc& given, size_t bytes);
  Result<TensorDesc> Match(uint32_t index, const TensorDesc& given, uint64_t bytes) const;
  bool IsJustACopy(uint32_t index, const TensorDesc& given, size_t bytes) const;
  Status SetOneOnce(OnceInput& given, const GuestMemory& memory);
  Status Fill(uint32_t index, const TensorDesc& tensor, std::span<const uint8_t> bytes);
  Status CopyIn(uint32_t index, const TensorDesc& tensor, std::span<const uint8_t> bytes);
  Status MakeOwn(uint32_t index, size_t bytes);
  Status BindOwn(uint32_t index, const TensorDesc& tensor);
  Status BindTensor(uint32_t index, const TensorDesc& desc);
  Status BindView(uint32_t index, const TensorDesc& desc, std::span<const uint8_t> bytes, const char* memory = nullptr);
  Status BindAll(const GuestMemory* memory);
  Status BindSet(uint32_t index, const GuestMemory* memory);
  void Unbind(uint32_t index);
  void LetGo(uint32_t index);

  bool CanReadInPlace(uint32_t index, const TensorDesc& tensor, std::span<const uint8_t> bytes,
                      const GuestMemory& lender) const;
  Status Lend(uint32_t index, const TensorDesc& tensor, std::span<const uint8_t> bytes, const GuestMemory& lender);
  Result<std::span<const uint8_t>> FindLent(uint32_t index, const GuestMemory* memory) const;
  Status BindLent(uint32_t index, const GuestMemory* memory);
  void UnbindLent();
  void EndLoan(Input& input);

  const wasinn_io& io(uint32_t index) const { return *slot_.graph().inputs()[index]; }

  ContextSlot& slot_;
  ContextState& state_;
  const TensorMemory memory_;
  CopyCount& count_;
  const bool by_reference_;
  std::vector<Input> inputs_;
  bool grow_ = false;
  uint32_t n_lent_ = 0;  // of inputs_
  bool any_left_ = false;
};

}  // namespace wasinn::core
