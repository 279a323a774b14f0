#include "backends/torch_models.h"

#include <ATen/ops/from_blob.h>
#include <c10/core/InferenceMode.h>
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <sstream>

namespace wasinn::test {

namespace {

constexpr std::pair<wasinn_dtype, c10::ScalarType> kTypes[] = {
    {WASINN_F16, c10::kHalf},   {WASINN_BF16, c10::kBFloat16}, {WASINN_F32, c10::kFloat},  {WASINN_F64, c10::kDouble},
    {WASINN_U8, c10::kByte},    {WASINN_I8, c10::kChar},       {WASINN_U16, c10::kUInt16}, {WASINN_I16, c10::kShort},
    {WASINN_U32, c10::kUInt32}, {WASINN_I32, c10::kInt},       {WASINN_U64, c10::kUInt64}, {WASINN_I64, c10::kLong},
    {WASINN_BOOL, c10::kBool},
};

at::Tensor ToTensor(const Tensor& tensor) {
  for (const auto& [dtype, type] : kTypes) {
    if (dtype != tensor.dtype) continue;
    return at::from_blob(const_cast<char*>(tensor.bytes.data()), tensor.dims, at::TensorOptions(type)).clone();
  }
  throw std::runtime_error("dtype");
}

Tensor FromTensor(const at::Tensor& given) {
  const at::Tensor tensor = given.contiguous();
  for (const auto& [dtype, type] : kTypes) {
    if (type != tensor.scalar_type()) continue;
    return {dtype, tensor.sizes().vec(),
            std::string(static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes())};
  }
  throw std::runtime_error("element type");
}

class StringReader final : public caffe2::serialize::ReadAdapterInterface {
 public:
  explicit StringReader(std::string bytes) : bytes_(std::move(bytes)) {}
  size_t size() const override { return bytes_.size(); }
  size_t read(uint64_t at, void* to, size_t n, const char*) const override {
    return bytes_.copy(static_cast<char*>(to), n, at);
  }

 private:
  const std::string bytes_;
};

}  // namespace

std::string TorchModel(const std::string& code, const std::vector<std::pair<std::string, Tensor>>& buffers) {
  ::torch::jit::Module module("__torch__.Model");
  for (const auto& [name, tensor] : buffers) module.register_buffer(name, ToTensor(tensor));
  module.define(code);
  std::ostringstream stream;
  module.save(stream);
  return stream.str();
}

std::string ZipArchive(const ZipEntries& entries) {
  std::string bytes;
  caffe2::serialize::PyTorchStreamWriter writer([&](const void* data, size_t size) {
    bytes.append(static_cast<const char*>(data), size);
    return size;
  });
  for (const auto& [name, content] : entries) {
    if (name == "version" || name == "byteorder" || name == ".data/serialization_id") continue;  // it writes these
    writer.writeRecord(name, content.data(), content.size());
  }
  writer.writeEndOfFile();
  return bytes;
}

ZipEntries UnzipModel(const std::string& bytes) {
  caffe2::serialize::PyTorchStreamReader reader(std::make_shared<StringReader>(bytes));
  ZipEntries entries;
  for (const std::string& name : reader.getAllRecords()) {
    const auto [data, size] = reader.getRecord(name);
    entries.emplace_back(name, std::string(static_cast<const char*>(data.get()), size));
  }
  return entries;
}

struct NativeTorch::Impl {
  ::torch::jit::Module module;
};

NativeTorch::NativeTorch(const std::string& bytes) : impl_(std::make_unique<Impl>()) {
  std::istringstream stream(bytes);
  impl_->module = ::torch::jit::load(stream);
  impl_->module.eval();
}

NativeTorch::~NativeTorch() = default;

std::vector<Tensor> NativeTorch::Run(const std::vector<Tensor>& inputs) {
  const c10::InferenceMode inference;
  std::vector<c10::IValue> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto type = impl_->module.get_method("forward").function().getSchema().arguments()[i + 1].type();
    if (type->kind() == c10::TypeKind::IntType) {
      values.emplace_back(inputs[i].As<int64_t>()[0]);
    } else {
      values.emplace_back(ToTensor(inputs[i]));
    }
  }
  const c10::IValue result = impl_->module.forward(std::move(values));
  std::vector<Tensor> outputs;
  if (result.isTensor()) {
    outputs.push_back(FromTensor(result.toTensor()));
  } else {
    for (const c10::IValue& element : result.toTupleRef().elements()) outputs.push_back(FromTensor(element.toTensor()));
  }
  return outputs;
}

}  // namespace wasinn::test
