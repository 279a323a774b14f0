#include <ATen/ops/from_blob.h>
#include <c10/core/InferenceMode.h>
#include <dlfcn.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "backends/native_place.h"
#include "reference/reference.h"

namespace wasinn::testing {
namespace {

c10::Device Device() { return test::NativeOnGpu() ? c10::Device(c10::kCUDA, 0) : c10::Device(c10::kCPU); }

c10::IValue ToNative(const test::Tensor& tensor, const c10::Type& type) {
  static const std::map<wasinn_dtype, c10::ScalarType> kTypes = {{WASINN_DTYPE_U8, c10::kByte},
                                                                 {WASINN_DTYPE_F32, c10::kFloat},
                                                                 {WASINN_DTYPE_I32, c10::kInt},
                                                                 {WASINN_DTYPE_I64, c10::kLong}};
  if (type.kind() == c10::TypeKind::IntType) return tensor.As<int64_t>()[0];
  const at::TensorOptions options(kTypes.at(tensor.dtype));
  return at::from_blob(const_cast<char*>(tensor.bytes.data()), tensor.dims, options).clone().to(Device());
}

test::Tensor FromNative(const c10::IValue& value) {
  const at::Tensor tensor = value.toTensor().cpu().contiguous();
  return OfBytes(tensor.const_data_ptr(), tensor.nbytes());
}

}  // namespace

// Its outputs are one tensor or a tuple of tensors.
Infer OpenModel(const std::string& path, const Names&, const Names&) {
  // No program that is linked to libtorch for CPUs opens it by itself.
  if (test::NativeOnGpu() && dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_LOCAL) == nullptr) {
    throw std::runtime_error(dlerror());
  }
  std::istringstream stream(test::ReadFile(path));
  const auto module = std::make_shared<::torch::jit::Module>(::torch::jit::load(stream, Device()));
  module->eval();
  return [module](const std::vector<test::Tensor>& inputs) {
    const c10::InferenceMode inference;
    const auto& arguments = module->get_method("forward").function().getSchema().arguments();
    std::vector<c10::IValue> values;
    for (size_t i = 0; i < inputs.size(); ++i) values.push_back(ToNative(inputs[i], *arguments[i + 1].type()));
    const c10::IValue result = module->forward(std::move(values));
    if (result.isTensor()) return std::vector{FromNative(result)};
    std::vector<test::Tensor> outputs;
    for (const c10::IValue& element : result.toTupleRef().elements()) outputs.push_back(FromNative(element));
    return outputs;
  };
}

}  // namespace wasinn::testing
