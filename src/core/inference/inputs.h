// The staged inputs of a context's next run. Their bytes are copied to memory of the context, or belong to a tensor, or
// are borrowed from the memory of a call.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/inference/session.h"
#include "core/memory/copy.h"
#include "core/memory/guest_memory.h"

namespace wasinn::core {

// Copying fewer bytes is faster than binding them; and no memory is better for the framework than the host's.
inline constexpr size_t kWorthBinding = 4096;

// An input of a call that brings all of them, in the memory of that call.
struct OnceInput {
  uint32_t index;
  TensorDesc tensor;
  std::span<const uint8_t> bytes;
};

// A change of an input ends the current generation, which may still read it.
class Inputs {
 public:
  // `count` counts the copies.
  Inputs(Session& session, const TensorMemory& memory, CopyCount& count);
  Inputs(const Inputs&) = delete;
  Inputs& operator=(const Inputs&) = delete;

  std::span<const Input> all() const { return inputs_; }
  // Changes if a session must bind inputs again for its next run. A copy of other bytes to the same place changes
  // nothing.
  uint64_t version() const { return versions_; }

  // Copies the bytes.
  Status Set(uint32_t index, const TensorDesc& given, std::span<const uint8_t> bytes) {
    if (index >= inputs_.size()) return NoSuchIndex(index);
    // Usually only a copy: everything was checked, charged and bound before.
    if (inputs_[index].set && !session_.generates() && HasRoomFor(index, given, bytes.size())) [[likely]] {
      CopyTensorBytes({own_[index].data, bytes.size()}, bytes, count_);
      return Status();
    }
    return SetAnew(index, given, bytes);
  }
  // The framework computes on the tensor's own bytes if it can.
  Status Set(uint32_t index, TensorPtr tensor);
  // For one run: sets these inputs and no others. Large bytes stay in `memory` if the framework can read them there;
  // others are copied to the context's memory, which is kept for the next time.
  Status SetOnce(std::span<OnceInput> given, const GuestMemory& memory);
  void EndOnce();
  void UnsetAll();

  Status CheckIndex(uint32_t index) const { return index < inputs_.size() ? Status() : NoSuchIndex(index); }
  Status CheckAllSet() const;

 private:
  // Memory of the context for one input. It stays as long as inputs of this size are set.
  struct Own {
    Own() = default;
    Own(Own&&) = delete;
    Own& operator=(Own&&) = delete;
    ~Own() { Free(); }
    void Free();

    BufferPool::Buffer buffer;  // or
    wasinn_tensor given{};      // memory of the backend
    uint8_t* data = nullptr;    // in one of them
    size_t bytes = 0;
    Reservation charge;
    bool looked_at = false;  // the core or the backend must look at the bytes each time: text, bools
  };

  Status NoSuchIndex(uint32_t index) const;
  bool HasRoomFor(uint32_t index, const TensorDesc& given, size_t bytes) const;
  Status SetAnew(uint32_t index, const TensorDesc& given, std::span<const uint8_t> bytes);
  Status SetOneOnce(const OnceInput& given, const GuestMemory& memory);
  Result<TensorDesc> Match(uint32_t index, const TensorDesc& given, uint64_t bytes) const;
  Status Fill(uint32_t index, const TensorDesc& tensor, std::span<const uint8_t> bytes);
  Status CopyIn(uint32_t index, const TensorDesc& tensor, std::span<const uint8_t> bytes);
  Status MakeOwn(uint32_t index, size_t bytes);
  bool CanReadInPlace(uint32_t index, const TensorDesc& tensor, std::span<const uint8_t> bytes,
                      const GuestMemory& lender) const;
  // An input that must be set is set in every run, so a session need not know that it was unset in between.
  void SetOrUnset(uint32_t index, bool set) {
    inputs_[index].set = set;
    if ((io(index).flags & WASINN_IO_OPTIONAL) != 0) ++versions_;
  }
  void Change(Input& input, const TensorDesc& desc, std::span<const uint8_t> bytes);
  void LetGo(uint32_t index);

  const wasinn_io& io(uint32_t index) const { return *session_.graph().inputs()[index]; }

  Session& session_;
  const TensorMemory memory_;
  CopyCount& count_;
  std::vector<Input> inputs_;
  const std::unique_ptr<Own[]> own_;  // one for each input
  uint64_t versions_ = 1;
};

}  // namespace wasinn::core
