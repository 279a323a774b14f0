// The parts of every function of wasi:nn: its arguments in the forms of the core, and its end: a value, an error object
// for the guest, or a trap.
#pragma once

#include <wasinn/wit.h>

#include <exception>
#include <memory>
#include <memory_resource>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/host/guest.h"

namespace wasinn::abi {

const wasinn_wit_functions& WitFunctions();

// Those whose work goes on while the guest does.
wasinn_status* TaskLoad(wasinn_guest* guest, const wasinn_bytes* builders, size_t count, uint32_t encoding,
                        uint32_t target, wasinn_wit_done done, wasinn_wit_task** task);
wasinn_status* TaskLoadByName(wasinn_guest* guest, const char* name, size_t size, wasinn_wit_done done,
                              wasinn_wit_task** task);
wasinn_status* TaskCompute(wasinn_guest* guest, uint32_t context, const wasinn_wit_named_tensor* inputs, size_t count,
                           uint32_t may_stay, wasinn_wit_done done, wasinn_wit_task** task);
wasinn_status* TaskGenerate(wasinn_guest* guest, uint32_t context, const wasinn_wit_named_tensor* inputs, size_t count,
                            wasinn_wit_task** task);
wasinn_status* TaskStep(wasinn_wit_task* task, wasinn_wit_done done);
wasinn_status* TaskTake(wasinn_wit_task* task, wasinn_wit_result* out, wasinn_wit_view* values);
void TaskFree(wasinn_wit_task* task);

// The status of a trap; NULL for success.
wasinn_status* Trap(const core::Status& status);

// Makes the error object of a result<T, error>, with the whole message of core and framework. A trap if the guest holds
// too many.
core::Status ToErrorObject(wasinn_guest& guest, const char* function, const core::Status& status,
                           wasinn_wit_result& out);

// Runs one function for a guest. `body` returns a Status: an error is a trap.
template <typename Body>
wasinn_status* WithGuest(wasinn_guest* guest, const Body& body) {
  try {
    if (guest == nullptr) return Trap(core::Error(WASINN_ERROR_RUNTIME, "this guest is not known to wasinn"));
    const core::Guest::Call presence(*guest);
    if (!presence) return Trap(core::Error(WASINN_ERROR_RUNTIME, "the guest is closed"));
    return Trap(body());
  } catch (const std::bad_alloc&) {
    return wasinn_status_new(WASINN_ERROR_RUNTIME, "the host is out of memory");  // allocates nothing
  } catch (const std::exception& error) {
    return wasinn_status_new(WASINN_ERROR_RUNTIME, error.what());
  }
}

// As above, for a function that returns a result<T, error>. `body` returns a Status, or the rep of a resource.
template <typename Body>
wasinn_status* WithResult(wasinn_guest* guest, const char* function, wasinn_wit_result& out, const Body& body) {
  return WithGuest(guest, [&]() -> core::Status {
    out = {.is_error = 0, .rep = 0};
    const core::Status status = core::Guarded([&]() -> core::Status {
      if constexpr (std::is_same_v<decltype(body()), core::Status>) {
        return body();
      } else {
        ASSIGN_OR_RETURN(out.rep, body());
        return {};
      }
    });
    return status.ok() ? core::Status() : ToErrorObject(*guest, function, status, out);
  });
}

// As above, with a context that the call has for itself.
template <typename Body>
wasinn_status* WithContext(wasinn_guest* guest, const char* function, uint32_t context, wasinn_wit_result& out,
                           const Body& body) {
  return WithResult(guest, function, out, [&]() -> decltype(body(std::declval<core::Context&>())) {
    core::Guest::Use use(*guest, context);
    if (!use) return std::unexpected(use.TakeError());
    return body(*use);
  });
}

// ---- Values

// A view that keeps `owner` until it is released.
template <typename Owner>
wasinn_wit_view Keep(std::unique_ptr<Owner> owner, const void* data, size_t count) {
  return {data, count, owner.release(), [](void* kept) { delete static_cast<Owner*>(kept); }};
}
wasinn_wit_view ToView(std::string text);
// The outputs of a compute; `names` keeps their names. If there is no memory for the view, they are dropped.
wasinn_wit_view ToView(core::Guest& guest, std::shared_ptr<const void> names,
                       std::pmr::vector<core::Guest::Output>& outputs);

// Tensors that a call consumes in any case. They count as held until it ends.
class Owned {
 public:
  Owned(wasinn_guest& guest, std::span<const wasinn_wit_named_tensor> tensors) : guest_(guest), tensors_(tensors) {}
  ~Owned() {
    guest_.EndTensors(counted_);
    for (const wasinn_wit_named_tensor& named : tensors_.subspan(taken_)) (void)guest_.DropTensor(named.tensor);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

  // Called once, before all others.
  core::Status Take();
  std::span<const core::Guest::NamedTensor> tensors() const { return found_; }
  // The number that counts as held. From now on the caller ends that.
  size_t TakeCount() { return std::exchange(counted_, 0); }

 private:
  wasinn_guest& guest_;
  const std::span<const wasinn_wit_named_tensor> tensors_;
  core::ScratchMemory scratch_;
  std::pmr::vector<core::Guest::NamedTensor> found_{&scratch_.resource};
  size_t taken_ = 0, counted_ = 0;  // the first ones
};

// The newest piece of the first output, which has the generated text.
core::Result<std::string> PieceOf(core::Context& context);

// The parts of a model and its target, a number of wasi:nn. NULL `builders` with a count are too many.
struct ModelParts {
  std::vector<std::span<const uint8_t>> bytes;
  wasinn_target target;
};
core::Result<ModelParts> PartsOf(const core::Guest& guest, std::span<const wasinn_bytes> builders, uint32_t target);
// The format of a graph-encoding's number.
core::Result<const char*> EncodingOf(uint32_t encoding);

}  // namespace wasinn::abi
