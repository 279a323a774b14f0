#include "node_cases.h"

#include <dlfcn.h>
#define ORT_API_MANUAL_INIT
#include <onnxruntime_cxx_api.h>

#include "base/proto_reader.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

namespace fs = std::filesystem;
using base::ProtoField;

// Element types by their numbers, which ONNX and ONNX Runtime share.
struct Element {
  int onnx;
  size_t size;
  uint8_t type;             // wasi-nn's
  bool is_doubled = false;  // the last dimension counts bytes, two to an element
};
constexpr Element kElements[] = {
    {1, 4, WASI_NN_F32},       {2, 1, WASI_NN_U8},   {3, 1, WASI_NN_U8},   {4, 2, WASI_NN_U8, true},
    {5, 2, WASI_NN_U8, true},  {6, 4, WASI_NN_I32},  {7, 8, WASI_NN_I64},  {9, 1, WASI_NN_U8},
    {10, 2, WASI_NN_F16},      {11, 8, WASI_NN_F64}, {12, 4, WASI_NN_I32}, {13, 8, WASI_NN_I64},
    {16, 2, WASI_NN_U8, true}, {17, 1, WASI_NN_U8},  {18, 1, WASI_NN_U8},  {19, 1, WASI_NN_U8},
    {20, 1, WASI_NN_U8},
};

// As a file has it.
struct OnnxTensor {
  const Element* element = nullptr;
  std::vector<int64_t> dims;
  Bytes bytes;
};

// The numbers of a repeated field: one, or many in a row.
std::vector<uint64_t> Numbers(const ProtoField& field) {
  if (field.type == ProtoField::Type::kVarint) return {field.value};
  std::vector<uint64_t> numbers;
  uint64_t number = 0;
  int shift = 0;
  for (const uint8_t byte : field.bytes) {
    number |= uint64_t{byte & 0x7fu} << shift;
    shift += 7;
    if (byte >= 0x80) continue;
    numbers.push_back(std::exchange(number, 0));
    shift = 0;
  }
  return numbers;
}

// A TensorProto; one without an element type is not served.
OnnxTensor Parse(const Bytes& file) {
  enum : uint32_t {
    kDims = 1,
    kType = 2,
    kFloats = 4,
    kInt32s = 5,
    kInt64s = 7,
    kRaw = 9,
    kDoubles = 10,
    kUint64s = 11
  };
  OnnxTensor tensor;
  std::vector<uint64_t> numbers;
  base::ProtoReader reader(file);
  for (ProtoField field; reader.Next(&field);) {
    if (field.number == kDims) {
      for (const uint64_t dim : Numbers(field)) tensor.dims.push_back(static_cast<int64_t>(dim));
    } else if (field.number == kType) {
      const auto* found = std::ranges::find(kElements, static_cast<int>(field.value), &Element::onnx);
      tensor.element = found == std::end(kElements) ? nullptr : found;
    } else if (field.number == kInt32s || field.number == kInt64s || field.number == kUint64s) {
      for (const uint64_t number : Numbers(field)) numbers.push_back(number);
    } else if (field.number == kRaw || field.number == kFloats || field.number == kDoubles) {
      tensor.bytes.insert(tensor.bytes.end(), field.bytes.begin(), field.bytes.end());
    }
  }
  EXPECT_FALSE(reader.broken());
  for (const uint64_t number : numbers) {
    for (size_t i = 0; tensor.element != nullptr && i < tensor.element->size; ++i) {
      tensor.bytes.push_back(static_cast<uint8_t>(number >> (8 * i)));
    }
  }
  return tensor;
}

// input_0.pb, input_1.pb … or output_*; none if one of them is not served.
std::optional<std::vector<OnnxTensor>> ReadTensors(const fs::path& folder, const std::string& prefix) {
  std::vector<OnnxTensor> tensors;
  for (fs::path path; fs::exists(path = folder / (prefix + std::to_string(tensors.size()) + ".pb"));) {
    tensors.push_back(Parse(ReadBytes(path)));
    if (tensors.back().element == nullptr) return std::nullopt;
  }
  return tensors;
}

NodeTensor ForGuest(const OnnxTensor& tensor) {
  std::vector<int64_t> dims = tensor.dims;
  if (tensor.element->is_doubled && dims.empty()) dims.push_back(1);  // [1] is a scalar too
  if (tensor.element->is_doubled) dims.back() *= 2;
  std::string text;
  for (const int64_t dim : dims) text += (text.empty() ? "" : ",") + std::to_string(dim);
  return {tensor.element->type, text.empty() ? "-" : text, tensor.bytes};
}

// As the backend's environment: one pool of one thread per core for all sessions, whose threads do not spin.
Ort::Env& Env() {
  static Ort::Env env = [] {
    void* library = dlopen(FrameworkFile("onnx").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    const auto base = reinterpret_cast<const OrtApiBase* (*)()>(dlsym(library, "OrtGetApiBase"));
    Ort::InitApi(base()->GetApi(ORT_API_VERSION));
    Ort::ThreadingOptions threads;
    threads.SetGlobalIntraOpNumThreads(static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
    threads.SetGlobalInterOpNumThreads(1);
    threads.SetGlobalSpinControl(0);
    return Ort::Env(threads, ORT_LOGGING_LEVEL_FATAL, "native");
  }();
  return env;
}

Bytes BytesOfOutput(const Ort::Value& value) {
  const auto info = value.GetTensorTypeAndShapeInfo();
  const auto* element = std::ranges::find(kElements, static_cast<int>(info.GetElementType()), &Element::onnx);
  if (element == std::end(kElements)) throw std::runtime_error("no element type of whole bytes");
  const auto* bytes = static_cast<const uint8_t*>(value.GetTensorRawData());
  return {bytes, bytes + info.GetElementCount() * element->size};
}

// Throws ONNX Runtime's error.
std::vector<Bytes> Run(const std::string& model, const std::vector<OnnxTensor>& inputs) {
  Ort::Env& env = Env();
  Ort::SessionOptions options;
  options.DisablePerSessionThreads();
  Ort::Session session(env, model.c_str(), options);
  Ort::AllocatorWithDefaultOptions allocator;
  std::vector<Ort::AllocatedStringPtr> names;
  std::vector<const char*> in, out;
  std::vector<Ort::Value> values;
  const auto memory = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
  for (size_t i = 0; i < inputs.size(); ++i) {
    // Inputs with a default come behind the others, as the backend counts them.
    const size_t count = session.GetInputCount();
    in.push_back(names
                     .emplace_back(i < count ? session.GetInputNameAllocated(i, allocator)
                                             : session.GetOverridableInitializerNameAllocated(i - count, allocator))
                     .get());
    values.push_back(Ort::Value::CreateTensor(memory, const_cast<uint8_t*>(inputs[i].bytes.data()),
                                              inputs[i].bytes.size(), inputs[i].dims.data(), inputs[i].dims.size(),
                                              static_cast<ONNXTensorElementDataType>(inputs[i].element->onnx)));
  }
  for (size_t i = 0; i < session.GetOutputCount(); ++i) {
    out.push_back(names.emplace_back(session.GetOutputNameAllocated(i, allocator)).get());
  }
  std::vector<Bytes> outputs;
  for (const Ort::Value& value :
       session.Run(Ort::RunOptions(), in.data(), values.data(), values.size(), out.data(), out.size())) {
    outputs.push_back(BytesOfOutput(value));
  }
  return outputs;
}

}  // namespace

std::string NodeCaseFolder() { return InSources(".deps/share/onnx-node-tests"); }

std::vector<std::string> NodeCaseNames() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(NodeCaseFolder(), error)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

std::optional<NodeCase> RunNodeCase(const std::string& name) {
  const fs::path folder = fs::path(NodeCaseFolder()) / name, data = folder / "test_data_set_0";
  const auto inputs = ReadTensors(data, "input_"), expected = ReadTensors(data, "output_");
  if (!inputs || !expected) return std::nullopt;
  NodeCase result{.name = name};
  try {
    result.outputs = Run(folder / "model.onnx", *inputs);
  } catch (const std::exception&) {
    return std::nullopt;
  }
  for (const OnnxTensor& input : *inputs) result.inputs.push_back(ForGuest(input));
  result.as_expected = std::ranges::equal(result.outputs, *expected, {}, {}, &OnnxTensor::bytes);
  return result;
}

}  // namespace wasinn::testing
