#include "tensorflow/outputs.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "common/error.h"
#include "tensorflow/dtype.h"

namespace wasinn::tensorflow {

using backend::Error;

Outputs::Outputs(const Model& model) : model_(model) {
  const auto release = model.host().library()->TF_DeleteTensor;
  for (size_t i = 0; i < model.signature().outputs().size(); ++i) {
    slots_.push_back({.tensor = {nullptr, release}, .copy = {}, .dims = {}});
  }
}

void Outputs::Release() {
  for (Slot& slot : slots_) {
    slot.tensor.reset();
    slot.there = slot.given = false;
  }
  bytes_ = 0;
}

void Outputs::Discard() {
  Release();
  for (Slot& slot : slots_) slot.copy = {};
}

// One that shares a buffer with a constant, a variable or another output has not the only reference to it, and the buffer
// of an input does not own its memory: TensorFlow lets neither be moved. Behind a tensor of TensorFlow's there is no tail,
// as there is behind ours. That is enough: the core copies for other frameworks, so only TensorFlow reads it in place as
// an input, and its kernels are made for such tensors.
TF_Tensor* Outputs::Move(TF_Tensor* tensor) const {
  if (!model_.gives_whole_buffers()) return nullptr;
  const TfLibrary& library = model_.host().library();
  const auto address = reinterpret_cast<uintptr_t>(library->TF_TensorData(tensor));
  return address % backend::kBufferAlignment == 0 ? library->TF_TensorMaybeMove(tensor) : nullptr;
}

void Outputs::Take(size_t index, TfPtr<TF_Tensor> tensor) {
  TF_Tensor* moved = Move(tensor.get());
  if (moved == nullptr) return Copy(index, tensor.get());
  (void)tensor.release();
  Slot& slot = slots_[index];
  slot.tensor.reset(moved);
  slot.copy = {};
  Note(moved, &slot);
}

void Outputs::Note(const TF_Tensor* tensor, Slot* slot) {
  const TfLibrary& library = model_.host().library();
  slot->type = library->TF_TensorType(tensor);
  slot->bytes = library->TF_TensorByteSize(tensor);
  slot->dims.resize(static_cast<size_t>(library->TF_NumDims(tensor)));
  for (size_t i = 0; i < slot->dims.size(); ++i) slot->dims[i] = library->TF_Dim(tensor, static_cast<int>(i));
  slot->there = true;
  bytes_ += slot->bytes;
}

void Outputs::Copy(size_t index, const TF_Tensor* tensor) {
  Slot& slot = slots_[index];
  const TfLibrary& library = model_.host().library();
  slot.copy.Assign(library->TF_TensorData(tensor), library->TF_TensorByteSize(tensor));
  Note(tensor, &slot);
}

void Outputs::View(uint32_t index, wasinn_tensor* view) {
  const Port& port = backend::PortAt(model_.signature().outputs(), "output", index);
  Slot& slot = slots_[index];
  if (!slot.there) {
    throw Error(WASINN_ERROR_INVALID_ARGUMENT,
                fmt::format("output '{}' {}: compute again", port.name, slot.given ? "was taken" : "was not wanted"));
  }
  const wasinn_dtype dtype = FromTf(slot.type);
  if (dtype == WASINN_DTYPE_UNKNOWN || slot.dims.size() > WASINN_MAX_RANK) {
    backend::ThrowUnshowable(port, TfName(slot.type), slot.dims.size());
  }
  const bool is_copy = slot.tensor == nullptr;
  *view = backend::ViewOf(dtype, slot.dims,
                          is_copy ? slot.copy.data() : model_.host().library()->TF_TensorData(slot.tensor.get()));
}

void Outputs::Give(uint32_t index, wasinn_tensor* out) {
  View(index, out);
  Slot& slot = slots_[index];
  if (slot.tensor != nullptr) {
    backend::GiveAway(std::make_unique<TfPtr<TF_Tensor>>(std::move(slot.tensor)), out);
  } else {
    backend::GiveAway(std::make_unique<backend::AlignedBuffer>(std::move(slot.copy)), out);
  }
  slot.there = false;
  slot.given = true;
}

}  // namespace wasinn::tensorflow
