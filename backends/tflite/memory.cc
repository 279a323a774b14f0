#include "tflite/memory.h"

#include <algorithm>
#include <vector>

namespace wasinn::tflite {

namespace {

void Add(uint64_t bytes, uint64_t* sum) { *sum = backend::AddSat(*sum, bytes); }

// From the first byte to the end of the last tensor in it.
class Block {
 public:
  void Take(uintptr_t data, uint64_t bytes) {
    first_ = std::min(first_, data);
    end_ = std::max(end_, data + bytes);
  }
  uint64_t bytes() const { return end_ > first_ ? end_ - first_ : 0; }

 private:
  uintptr_t first_ = UINTPTR_MAX, end_ = 0;
};

// The most bytes that live at the same time.
class Lives {
 public:
  explicit Lives(uint32_t operators) : begun_(operators), ended_(operators) {}

  void Take(const Lifetime& life, uint64_t bytes) {
    Add(bytes, &begun_[life.first]);
    Add(bytes, &ended_[life.last]);
  }
  uint64_t Peak() const {
    uint64_t now = 0, most = 0;
    for (size_t op = 0; op < begun_.size(); ++op) {
      Add(begun_[op], &now);
      most = std::max(most, now);
      now -= std::min(now, ended_[op]);
    }
    return most;
  }

 private:
  std::vector<uint64_t> begun_, ended_;  // by operator
};

}  // namespace

bool HasShapesByValue(const Interpreter& interpreter, const ModelScan& scan) {
  const TfLiteLibrary& library = interpreter.library();
  if (library.tensor_at == nullptr || library.allocation_type == nullptr) return false;
  for (uint32_t i = 0; i < scan.tensors; ++i) {
    const TfLiteTensor* tensor = library.tensor_at(interpreter.get(), static_cast<int>(i));
    if (tensor == nullptr || library.tensor_type(tensor) == kTfLiteString) continue;  // strings always are
    if (library.allocation_type(tensor) == kTfLiteDynamic) return true;
  }
  return false;
}

MemoryPlan PlanOf(const Interpreter& interpreter, const ModelScan& scan) {
  const TfLiteLibrary& library = interpreter.library();
  MemoryPlan plan;
  if (library.tensor_at == nullptr || library.allocation_type == nullptr) return plan;
  Block values, lasting;
  Lives hidden(scan.operators);
  for (uint32_t i = 0; i < scan.tensors; ++i) {
    const TfLiteTensor* tensor = library.tensor_at(interpreter.get(), static_cast<int>(i));
    if (tensor == nullptr) continue;
    const uint64_t bytes = library.tensor_byte_size(tensor);
    const auto data = reinterpret_cast<uintptr_t>(library.tensor_data(tensor));
    const TfLiteAllocationType type = library.allocation_type(tensor);
    if (type == kTfLiteDynamic) {
      Add(bytes, &plan.dynamic);
    } else if (type == kTfLiteCustom) {
      Add(bytes, &plan.lent);
    } else if (data == 0) {
      if (scan.lives[i].computed) hidden.Take(scan.lives[i], bytes);
    } else if (type == kTfLiteArenaRw) {
      values.Take(data, bytes);
    } else if (type == kTfLiteArenaRwPersistent) {
      lasting.Take(data, bytes);
    }
  }
  Add(values.bytes(), &plan.arenas);
  Add(lasting.bytes(), &plan.arenas);
  plan.hidden = hidden.Peak();
  return plan;
}

}  // namespace wasinn::tflite
