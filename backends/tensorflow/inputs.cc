#include "tensorflow/inputs.h"

#include <algorithm>
#include <memory>
#include <new>
#include <span>

#include "common/aligned_buffer.h"
#include "common/saturating.h"
#include "tensorflow/dtype.h"

namespace wasinn::tensorflow {

Inputs::Inputs(const Model& model, void* account) : model_(model), copies_(model.host().services(), account) {
  const auto release = model.host().library()->TF_DeleteTensor;
  for (size_t i = 0; i < model.signature().inputs().size(); ++i) {
    slots_.push_back({.tensor = {nullptr, release}, .dims = {}});
  }
}

void Inputs::Bind(uint32_t index, const wasinn_tensor& tensor) {
  const Port& port = backend::PortAt(model_.signature().inputs(), "input", index);
  Slot& slot = slots_[index];
  slot.set = false;
  backend::CheckTensor(port, tensor);
  const std::span dims(tensor.dims, tensor.rank);
  // Memory that comes back has its tensor already: a host has few buffers of a size, and binds them again and again.
  if (slot.tensor == nullptr || slot.data != tensor.data || !std::ranges::equal(slot.dims, dims)) {
    slot.tensor.reset();
    slot.data = tensor.data;
    slot.bytes = tensor.bytes;
    slot.dims.assign(dims.begin(), dims.end());
    if (model_.forgets_inputs()) slot.tensor = Over(port, slot);
  }
  slot.set = true;
}

void Inputs::MakeCopies() {
  if (model_.forgets_inputs()) return;
  uint64_t total = 0;
  for (const Slot& slot : slots_) total = backend::AddSat(total, slot.set ? slot.bytes : 0);
  copies_.Resize(total);
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].set) slots_[i].tensor = CopyOf(model_.signature().inputs()[i], slots_[i]);
  }
}

// What TensorFlow keeps of them lives on.
void Inputs::DropCopies() {
  if (model_.forgets_inputs()) return;
  for (Slot& slot : slots_) slot.tensor.reset();
  copies_.Resize(0);
}

TfPtr<TF_Tensor> Inputs::Over(const Port& port, const Slot& slot) const {
  static constinit std::max_align_t nothing = {};
  const TfLibrary& library = model_.host().library();
  void* const data = slot.data == nullptr ? &nothing : const_cast<void*>(slot.data);
  TF_Tensor* made = library->TF_NewTensor(
      static_cast<TF_DataType>(port.type), slot.dims.data(), static_cast<int>(slot.dims.size()), data, slot.bytes,
      [](void*, size_t, void*) {}, nullptr);
  if (made == nullptr) throw std::bad_alloc();
  return library.Own(made);
}

TfPtr<TF_Tensor> Inputs::CopyOf(const Port& port, const Slot& slot) const {
  const TfLibrary& library = model_.host().library();
  auto memory = std::make_unique<backend::AlignedBuffer>();
  memory->Assign(slot.data, slot.bytes);
  const auto release = [](void*, size_t, void* held) { delete static_cast<backend::AlignedBuffer*>(held); };
  TF_Tensor* made =
      library->TF_NewTensor(static_cast<TF_DataType>(port.type), slot.dims.data(), static_cast<int>(slot.dims.size()),
                            memory->data(), slot.bytes, release, memory.get());
  if (made == nullptr) throw std::bad_alloc();  // it has not taken what it would release
  (void)memory.release();
  return library.Own(made);
}

}  // namespace wasinn::tensorflow
