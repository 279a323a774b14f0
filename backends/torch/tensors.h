// The inputs and outputs of a context.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <wasinn/backend.h>

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "torch/model.h"

namespace wasinn::torch {

// A tensor over the memory of each input, made once for a place and a shape. One thread at a time.
class Inputs {
 public:
  explicit Inputs(const Model& model);

  // wasinn_backend::bind_input and unbind_input.
  void Bind(uint32_t index, const wasinn_tensor& tensor);
  void Unbind(uint32_t index) { slots_[index].set = false; }

  // Adds the model's arguments to the stack. The model may keep or change its arguments if that does no harm to the
  // inputs.
  void PushTo(std::vector<c10::IValue>* stack) const {
    for (size_t i = 0; i < model_.signature().arguments().size(); ++i) stack->push_back(ArgumentOf(i));
  }
  // Whether a tensor is in the memory of an input.
  bool Holds(const at::Tensor& tensor) const {
    return std::ranges::any_of(slots_, [&](const Slot& slot) { return slot.set && tensor.is_alias_of(slot.tensor); });
  }

 private:
  struct Slot {
    at::Tensor tensor;
    bool set = false;
  };

  void Check(uint32_t index, const wasinn_tensor& tensor) const;
  c10::IValue ArgumentOf(size_t argument) const;
  c10::IValue ListOf(const Argument& argument, bool copy) const;
  // `copy`: the model may keep or change it.
  c10::IValue ValueOf(size_t index, bool copy) const;

  const Model& model_;
  std::vector<Slot> slots_;
};

// The result of a run, flattened depth first: tuples and lists in their order, dictionaries in the order in which keys
// were added; None is nothing; a list of numbers is one tensor of one dimension, a number one of none. Each is named by
// its path. One thread at a time.
class Outputs {
 public:
  explicit Outputs(const Inputs& inputs) : inputs_(inputs) {}

  // The memory of tensors lives as long as this, unless it is taken.
  void Fill(const c10::IValue& result) {
    Clear();
    Add("", result, 0);
  }
  // For a model that only has tensors.
  void Fill(const std::vector<at::Tensor>& results, const std::deque<Port>& outputs) {
    Clear();
    for (size_t i = 0; i < results.size(); ++i) AddTensor(outputs[i].name, results[i]);
  }
  void Clear() {
    for (size_t i = 0; i < n_; ++i) slots_[i].tensor.reset();
    n_ = 0;
  }

  size_t size() const { return n_; }
  // The bytes of tensors without other owners.
  uint64_t OwnBytes() const;
  void View(uint32_t index, wasinn_tensor* view) const;
  void Take(uint32_t index, wasinn_tensor* out);
  std::span<const wasinn_io* const> Ios();

 private:
  struct Slot {
    std::string name, type_name;
    at::Tensor tensor;  // on the CPU, contiguous; undefined if it cannot be shown, or was taken
    bool servable = false;
    wasinn_io io = {};
  };

  Slot* Next(const std::string& path);
  void Add(const std::string& path, const c10::IValue& value, int depth);
  void AddTensor(const std::string& path, const at::Tensor& tensor);
  void AddContainer(const std::string& path, const c10::IValue& value, int depth);
  const Slot& Servable(uint32_t index) const;

  const Inputs& inputs_;
  std::deque<Slot> slots_;  // the first n_ are of the last run; the rest is kept for the next
  size_t n_ = 0;
  std::vector<const wasinn_io*> ios_;
};

}  // namespace wasinn::torch
