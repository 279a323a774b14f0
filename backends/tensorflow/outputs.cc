#include "tensorflow/outputs.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "common/error.h"
#include "tensorflow/dtype.h"

namespace wasinn::tensorflow {

using backend::Error;

namespace {

// What take_output gives away.
struct Given {
  TfPtr<TF_Tensor> tensor;
  backend::AlignedBuffer copy;
};

}  // namespace

Outputs::Outputs(const Model& model) : model_(model) {
  const auto release = model.host().library()->TF_DeleteTensor;
  for (size_t i = 0; i < model.signature().outputs().size(); ++i) {
    slots_.push_back({.tensor = {nullptr, release}, .copy = {}, .dims = {}});
  }
}

void Outputs::Release() {
  for (Slot& slot : slots_) {
    slot.tensor.reset();
    slot.copied = slot.given = false;
  }
  bytes_ = 0;
}

void Outputs::Discard() {
  Release();
  for (Slot& slot : slots_) slot.copy = {};
}

void Outputs::Look(const TF_Tensor* tensor, Slot* slot) {
  const TfLibrary& library = model_.host().library();
  slot->type = library->TF_TensorType(tensor);
  slot->bytes = library->TF_TensorByteSize(tensor);
  bytes_ += slot->bytes;
  slot->dims.resize(static_cast<size_t>(library->TF_NumDims(tensor)));
  for (size_t i = 0; i < slot->dims.size(); ++i) slot->dims[i] = library->TF_Dim(tensor, static_cast<int>(i));
}

void Outputs::Take(size_t index, TF_Tensor* tensor, const Inputs& inputs) {
  Slot& slot = slots_[index];
  TfPtr<TF_Tensor> owned = model_.host().library().Own(tensor);
  if (inputs.Hold(model_.host().library()->TF_TensorData(tensor))) {
    Copy(tensor, &slot);
  } else {
    Look(tensor, &slot);
    slot.tensor = std::move(owned);
  }
}

void Outputs::Copy(const TF_Tensor* tensor, Slot* slot) {
  Look(tensor, slot);
  if (!slot->copy.IsFor(slot->bytes)) slot->copy = backend::AlignedBuffer(slot->bytes);
  if (slot->bytes > 0) {
    std::memcpy(slot->copy.data(), model_.host().library()->TF_TensorData(tensor), slot->bytes);
  }
  slot->copied = true;
}

void Outputs::View(uint32_t index, wasinn_tensor* view) {
  const Port& port = backend::PortAt(model_.signature().outputs(), "output", index);
  Slot& slot = slots_[index];
  if (slot.tensor == nullptr && !slot.copied) {
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
           .data = slot.copied ? slot.copy.data() : model_.host().library()->TF_TensorData(slot.tensor.get()),
           .bytes = slot.bytes,
           .owner = nullptr,
           .release = nullptr};
}

void Outputs::Give(uint32_t index, wasinn_tensor* out) {
  View(index, out);
  Slot& slot = slots_[index];
  const auto release = model_.host().library()->TF_DeleteTensor;
  auto given = std::make_unique<Given>(Given{.tensor = {nullptr, release}, .copy = {}});
  if (slot.copied) {
    given->copy = std::exchange(slot.copy, {});
  } else {
    given->tensor = std::move(slot.tensor);
  }
  slot.copied = false;
  slot.given = true;
  out->owner = given.release();
  out->release = [](void* owner) { delete static_cast<Given*>(owner); };
}

}  // namespace wasinn::tensorflow
