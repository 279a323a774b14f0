// Memory of outputs that callers may take with them.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "common/aligned_buffer.h"
#include "openvino/ov_library.h"

namespace wasinn::openvino {

// What an output lies in.
struct OutputMemory {
  void* data = nullptr;           // NULL: there is none
  backend::AlignedBuffer buffer;  // there, unless OpenVINO has allocated it, whose tensor keeps it then
  OvPtr<ov_tensor_t> tensor{nullptr, nullptr};
};

// Where an output's memory comes back to that was given away, as long as nothing has taken its place: then the request
// has it already, and need not be told. It is never more than the one output that the slot is charged for. Any thread.
class Homecoming {
 public:
  void Await() {
    const std::lock_guard lock(mutex_);
    awaited_ = true;
  }
  // What has come; from now on nothing comes.
  OutputMemory End() {
    const std::lock_guard lock(mutex_);
    awaited_ = false;
    return std::exchange(memory_, {});
  }
  // Kept if it is awaited, or freed.
  void Come(OutputMemory memory) {
    const std::lock_guard lock(mutex_);
    if (awaited_) std::swap(memory, memory_);
    awaited_ = false;
  }

 private:
  std::mutex mutex_;
  bool awaited_ = false;
  OutputMemory memory_;
};

// The owner of an output that was given away with its memory.
struct GivenOutput {
  OutputMemory memory;
  std::shared_ptr<Homecoming> home;

  static void Release(void* self) {
    const std::unique_ptr<GivenOutput> given(static_cast<GivenOutput*>(self));
    given->home->Come(std::move(given->memory));
  }
};

}  // namespace wasinn::openvino
