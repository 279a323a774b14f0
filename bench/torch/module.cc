// PyTorch through its C++ API, without wasinn: TorchScript's forward in inference mode, on inputs over the caller's
// buffers. Threads are set as in the backend.
#include "bench/torch/module.h"

#include <ATen/Parallel.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/scalar_tensor.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>
#include <wasinn/types.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace wasinn::bench {

struct TorchModule {
  torch::jit::Module module;
};

struct TorchRun {
  // A model that keeps a state has one for each run, like one for each context in the backend.
  explicit TorchRun(const TorchModule& model) : module(model.module.copy()) {}

  void Add(const c10::IValue& value);

  torch::jit::Module module;
  std::vector<c10::IValue> inputs;  // self first
  torch::jit::Stack stack;
  std::vector<at::Tensor> outputs;
};

namespace {

struct TypeRow {
  uint32_t wasinn;
  c10::ScalarType torch;
};
constexpr TypeRow kTypes[] = {
    {WASINN_DTYPE_F16, c10::kHalf},   {WASINN_DTYPE_BF16, c10::kBFloat16}, {WASINN_DTYPE_F32, c10::kFloat},
    {WASINN_DTYPE_F64, c10::kDouble}, {WASINN_DTYPE_U8, c10::kByte},       {WASINN_DTYPE_I8, c10::kChar},
    {WASINN_DTYPE_U16, c10::kUInt16}, {WASINN_DTYPE_I16, c10::kShort},     {WASINN_DTYPE_U32, c10::kUInt32},
    {WASINN_DTYPE_I32, c10::kInt},    {WASINN_DTYPE_U64, c10::kUInt64},    {WASINN_DTYPE_I64, c10::kLong},
    {WASINN_DTYPE_BOOL, c10::kBool},
};

c10::ScalarType ToTorch(uint32_t dtype) {
  const auto* row = std::ranges::find(kTypes, dtype, &TypeRow::wasinn);
  if (row == std::end(kTypes)) throw std::runtime_error("an input of unknown type");
  return row->torch;
}

uint32_t FromTorch(c10::ScalarType type) {
  const auto* row = std::ranges::find(kTypes, type, &TypeRow::torch);
  if (row == std::end(kTypes)) throw std::runtime_error("an output of a type that wasinn does not have");
  return row->wasinn;
}

// An argument of forward that is no tensor by its signature is passed as a number.
c10::IValue ValueOf(const TorchTensor& tensor, const c10::TypePtr& type) {
  const at::Tensor value =
      at::from_blob(tensor.data, at::IntArrayRef(tensor.dims, tensor.rank), at::TensorOptions(ToTorch(tensor.dtype)));
  auto bare = type;
  if (const auto optional = type->cast<c10::OptionalType>()) bare = optional->getElementType();
  switch (bare->kind()) {
    case c10::TypeKind::IntType:
      return value.item<int64_t>();
    case c10::TypeKind::FloatType:
    case c10::TypeKind::NumberType:
      return value.item<double>();
    case c10::TypeKind::BoolType:
      return value.item<bool>();
    default:
      return value;
  }
}

void Keep(const char* reason, char* error, size_t room) { std::snprintf(error, room, "PyTorch: %s", reason); }

// Calls `action`. If it throws, the reason is kept and the result is a default one.
template <typename Action>
auto Guarded(char* error, size_t room, Action action) -> decltype(action()) {
  try {
    return action();
  } catch (const c10::Error& failure) {
    Keep(failure.what_without_backtrace(), error, room);
  } catch (const std::exception& failure) {
    Keep(failure.what(), error, room);
  } catch (...) {
    Keep("an exception of unknown type", error, room);
  }
  return {};
}

TorchModule* Load(const char* path, int threads, char* error, size_t room) {
  return Guarded(error, room, [&] {
    at::set_num_threads(threads);
    const c10::InferenceMode inference;
    auto model = std::make_unique<TorchModule>(TorchModule{torch::jit::load(path, c10::Device(c10::kCPU))});
    model->module.eval();
    return model.release();
  });
}

TorchRun* NewRun(const TorchModule* model, const TorchTensor* inputs, size_t n, char* error, size_t room) {
  return Guarded(error, room, [&] {
    const c10::InferenceMode inference;
    auto run = std::make_unique<TorchRun>(*model);
    const auto arguments = run->module.get_method("forward").function().getSchema().arguments();
    run->inputs.emplace_back(run->module._ivalue());
    // An argument that is not given has its default, or is None.
    for (size_t i = 1; i < arguments.size(); ++i) {
      const auto* given =
          std::find_if(inputs, inputs + n, [i](const TorchTensor& input) { return input.index + 1 == i; });
      run->inputs.push_back(given != inputs + n ? ValueOf(*given, arguments[i].type())
                                                : arguments[i].default_value().value_or(c10::IValue()));
    }
    return run.release();
  });
}

bool Run(TorchRun* run, char* error, size_t room) {
  return Guarded(error, room, [&] {
    const c10::InferenceMode inference;
    run->outputs.clear();
    run->stack.assign(run->inputs.begin(), run->inputs.end());
    run->module.get_method("forward").function().run(run->stack);
    run->Add(run->stack.at(0));
    run->stack.clear();
    return true;
  });
}

TorchTensor Output(const TorchRun* run, size_t i) {
  const at::Tensor& tensor = run->outputs[i];
  return {.index = static_cast<uint32_t>(i),
          .dtype = FromTorch(tensor.scalar_type()),
          .rank = static_cast<uint32_t>(tensor.dim()),
          .dims = tensor.sizes().data(),
          .data = const_cast<void*>(tensor.const_data_ptr()),
          .bytes = tensor.nbytes()};
}

}  // namespace

void TorchRun::Add(const c10::IValue& value) {
  if (value.isTensor()) {
    outputs.push_back(value.toTensor().contiguous());
    FromTorch(outputs.back().scalar_type());
  } else if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements()) Add(element);
  } else if (value.isTensorList() || value.isList()) {
    for (const c10::IValue& element : value.toListRef()) Add(element);
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) Add(entry.value());
  } else if (value.isInt()) {
    outputs.push_back(at::scalar_tensor(value.toInt(), c10::kLong));
  } else if (value.isDouble()) {
    outputs.push_back(at::scalar_tensor(value.toDouble(), c10::kDouble));
  } else if (value.isBool()) {
    outputs.push_back(at::scalar_tensor(value.toBool(), c10::kBool));
  } else if (!value.isNone()) {
    throw std::runtime_error("bench cannot show a result of the type " + value.tagKind());
  }
}

}  // namespace wasinn::bench

extern "C" __attribute__((visibility("default"))) const wasinn::bench::TorchFunctions* wasinn_bench_torch() {
  using namespace wasinn::bench;  // NOLINT(google-build-using-namespace)
  static constexpr TorchFunctions kFunctions = {
      .struct_size = sizeof(TorchFunctions),
      .load = Load,
      .unload = [](TorchModule* model) { delete model; },
      .new_run = NewRun,
      .free_run = [](TorchRun* run) { delete run; },
      .run = Run,
      .count_outputs = [](const TorchRun* run) { return run->outputs.size(); },
      .output = Output,
  };
  return &kFunctions;
}
