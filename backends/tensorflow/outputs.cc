#include "tensorflow/outputs.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <utility>

#include "common/error.h"
#include "tensorflow/dtype.h"

namespace wasinn::tensorflow {

using backend::Error;

Outputs::Outputs(const Model& model) : model_(model), slots_(model.signature().outputs().size()) {}

void Outputs::Release() {
  for (Slot& slot : slots_) slot.there = slot.given = false;
  bytes_ = 0;
}

void Outputs::Discard() {
  Release();
  for (Slot& slot : slots_) slot.copy = {};
}

void Outputs::Copy(size_t index, const TF_Tensor* tensor) {
  const TfLibrary& library = model_.host().library();
  Slot& slot = slots_[index];
  slot.type = library->TF_TensorType(tensor);
  slot.bytes = library->TF_TensorByteSize(tensor);
  slot.dims.resize(static_cast<size_t>(library->TF_NumDims(tensor)));
  for (size_t i = 0; i < slot.dims.size(); ++i) slot.dims[i] = library->TF_Dim(tensor, static_cast<int>(i));
  if (!slot.copy.IsFor(slot.bytes)) {
    slot.copy = {};  // the old one goes before there is another
    slot.copy = backend::AlignedBuffer(slot.bytes);
  }
  if (slot.bytes > 0) std::memcpy(slot.copy.data(), library->TF_TensorData(tensor), slot.bytes);
  slot.there = true;
  bytes_ += slot.bytes;
}

void Outputs::View(uint32_t index, wasinn_tensor* view) {
  const Port& port = backend::PortAt(model_.signature().outputs(), "output", index);
  Slot& slot = slots_[index];
  if (!slot.there) {
    throw Error(WASINN_INVALID_ARGUMENT,
                fmt::format("output '{}' {}: compute again", port.name, slot.given ? "was taken" : "was not wanted"));
  }
  const wasinn_dtype dtype = FromTf(slot.type);
  if (dtype == WASINN_DTYPE_UNKNOWN || slot.dims.size() > WASINN_MAX_RANK) {
    throw Error(WASINN_UNSUPPORTED_OPERATION,
                fmt::format("output '{}' became {} of {} dimensions: expected numbers, and no more than {}", port.name,
                            TfName(slot.type), slot.dims.size(), WASINN_MAX_RANK));
  }
  *view = {.struct_size = sizeof(wasinn_tensor),
           .dtype = static_cast<uint32_t>(dtype),
           .rank = static_cast<uint32_t>(slot.dims.size()),
           .dims = slot.dims.data(),
           .data = slot.copy.data(),
           .bytes = slot.bytes,
           .owner = nullptr,
           .release = nullptr};
}

void Outputs::Give(uint32_t index, wasinn_tensor* out) {
  View(index, out);
  Slot& slot = slots_[index];
  auto given = std::make_unique<backend::AlignedBuffer>(std::exchange(slot.copy, {}));
  slot.there = false;
  slot.given = true;
  out->owner = given.release();
  out->release = [](void* owner) { delete static_cast<backend::AlignedBuffer*>(owner); };
}

}  // namespace wasinn::tensorflow
