#include "tensorflow/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <span>
#include <utility>

#include "common/error.h"
#include "tensorflow/dtype.h"

namespace wasinn::tensorflow {

using backend::Error;

namespace {

bool HasDims(const std::vector<int64_t>& dims, const wasinn_tensor& tensor) {
  return std::ranges::equal(dims, std::span(tensor.dims, tensor.rank));
}

}  // namespace

Inputs::Inputs(const Model& model) : model_(model) {
  const auto release = model.host().library()->TF_DeleteTensor;
  for (size_t i = 0; i < model.signature().inputs().size(); ++i) {
    slots_.push_back({.memory = nullptr,
                      .own = {.tensor = {nullptr, release}, .dims = {}},
                      .lent = {.tensor = {nullptr, release}, .dims = {}}});
  }
}

const Port& Inputs::Check(uint32_t index, const wasinn_tensor& tensor) const {
  const Port& port = backend::PortAt(model_.signature().inputs(), "input", index);
  backend::CheckTensor(port, tensor);
  return port;
}

void Inputs::Set(uint32_t index, wasinn_tensor* tensor) {
  const bool known = index < slots_.size() && model_.forgets_inputs();
  if (!known || slots_[index].own.tensor == nullptr || !HasDims(slots_[index].own.dims, *tensor)) {
    const Port& port = Check(index, *tensor);
    Slot& slot = slots_[index];
    // A variable may have taken the old value, and would change with it: then it keeps that memory.
    Memory memory = slot.memory;
    if (!model_.forgets_inputs()) {
      slot.current = nullptr;
      slot.own.tensor.reset();
      if (slot.memory.use_count() > 2) memory = nullptr;
    }
    if (memory == nullptr || !memory->IsFor(tensor->bytes)) {
      memory = std::make_shared<backend::AlignedBuffer>(tensor->bytes);
    }
    if (slot.current == slot.own.tensor.get()) slot.current = nullptr;
    Make(port, *tensor, memory->data(), memory, &slot.own);
    slot.memory = std::move(memory);
  }
  Slot& slot = slots_[index];
  slot.current = slot.own.tensor.get();
  tensor->data = slot.memory->data();
}

void Inputs::Lend(uint32_t index, const wasinn_tensor& tensor) {
  const Port& port = Check(index, tensor);
  if (!model_.forgets_inputs()) {
    throw Error(WASINN_UNSUPPORTED_OPERATION,
                fmt::format("input '{}': the model has state, which may keep the memory of an input", port.name));
  }
  Slot& slot = slots_[index];
  // Memory that comes back has its tensor already: a host has few buffers of a size, and lends them again and again.
  if (slot.lent.tensor == nullptr || slot.lent.data != tensor.data || !HasDims(slot.lent.dims, tensor)) {
    if (slot.current == slot.lent.tensor.get()) slot.current = nullptr;
    Make(port, tensor, tensor.data, nullptr, &slot.lent);
  }
  slot.current = slot.lent.tensor.get();
}

void Inputs::Make(const Port& port, const wasinn_tensor& tensor, void* data, const Memory& memory, Value* value) const {
  static constinit std::max_align_t nothing = {};
  const TfLibrary& library = model_.host().library();
  std::vector<int64_t> dims(tensor.dims, tensor.dims + tensor.rank);
  auto held = memory == nullptr ? nullptr : std::make_unique<Memory>(memory);
  const auto release = [](void*, size_t, void* holder) { delete static_cast<Memory*>(holder); };
  TF_Tensor* made =
      library->TF_NewTensor(static_cast<TF_DataType>(port.type), dims.data(), static_cast<int>(dims.size()),
                            data == nullptr ? &nothing : data, tensor.bytes, release, held.get());
  if (made == nullptr) throw std::bad_alloc();  // it has not taken what it would release
  (void)held.release();
  value->tensor = library.Own(made);
  value->data = data;
  value->dims = std::move(dims);
}

}  // namespace wasinn::tensorflow
