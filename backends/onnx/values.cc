#include "onnx/values.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_map>

#include "common/dtype.h"
#include "common/throw.h"

namespace wasinn::onnx {

using backend::Throw;

namespace {

// An element of a sequence, or the keys or values of a map.
OrtPtr<OrtValue> PartOf(const OrtLibrary& library, const OrtValue* value, size_t index) {
  return library.Make("outputs", library.api().ReleaseValue, library.api().GetValue, value, static_cast<int>(index),
                      library.Allocator());
}

std::vector<int64_t> DimsOf(const OrtLibrary& library, const OrtValue* value) {
  const OrtApi& api = library.api();
  const auto info = library.Make("outputs", api.ReleaseTensorTypeAndShapeInfo, api.GetTensorTypeAndShape, value);
  return library.DimsOf(info.get(), "outputs");
}

template <typename T>
const T* DataOf(const OrtLibrary& library, OrtValue* value) {
  return static_cast<const T*>(library.Get<void*>("outputs", library.api().GetTensorMutableData, value));
}

void Charge(const Port& port, uint64_t bytes, MemoryBudget& budget) {
  if (budget.TryCharge(bytes)) return;
  Throw(WASINN_ERROR_TOO_LARGE, "output '{}': its {} bytes are more than this compute may still allocate", port.name,
        bytes);
}

void Take(const Port& port, uint64_t bytes, MemoryBudget& budget, backend::AlignedBuffer* buffer) {
  Charge(port, bytes, budget);
  buffer->Fit(bytes);
}

// All strings of a tensor, concatenated, with the offsets of their ends and beginnings; charged during its life.
struct Texts {
  Texts(const OrtLibrary& library, const OrtValue* value, uint64_t count, const Port& port, MemoryBudget& its_budget)
      : budget(its_budget) {
    const auto bytes = library.Get<size_t>("outputs", library.api().GetStringTensorDataLength, value);
    charged = backend::AddSat(bytes, backend::MulSat(count + 1, sizeof(size_t)));
    Charge(port, charged, budget);
    begins.resize(count + 1);
    all.resize(bytes);
    library.Check(library.api().GetStringTensorContent(value, all.data(), bytes, begins.data(), count), "outputs");
    begins.back() = bytes;
  }
  ~Texts() { budget.Refund(charged); }
  Texts(const Texts&) = delete;
  Texts& operator=(const Texts&) = delete;
  std::string_view At(uint64_t i) const { return std::string_view(all).substr(begins[i], begins[i + 1] - begins[i]); }

  MemoryBudget& budget;
  uint64_t charged = 0;
  std::string all;
  std::vector<size_t> begins;
};

std::vector<std::string> KeysOf(const OrtLibrary& library, OrtValue* keys, uint64_t count, const Port& port,
                                MemoryBudget& budget) {
  std::vector<std::string> named;
  if (port.classes.are_texts) {
    const Texts texts(library, keys, count, port, budget);
    for (uint64_t i = 0; i < count; ++i) named.emplace_back(texts.At(i));
  } else {
    const int64_t* const numbers = DataOf<int64_t>(library, keys);
    for (uint64_t i = 0; i < count; ++i) named.push_back(std::to_string(numbers[i]));
  }
  return named;
}

}  // namespace

OrtPtr<OrtValue> MakeStringTensor(const OrtLibrary& library, const backend::StringsOf& strings, MemoryBudget& budget) {
  const OrtApi& api = library.api();
  uint64_t bytes = backend::MulSat(strings.size(), sizeof(std::string));
  for (uint64_t i = 0; i < strings.size(); ++i) bytes = backend::AddSat(bytes, strings.At(i).size());
  if (!budget.TryCharge(bytes)) {
    Throw(WASINN_ERROR_TOO_LARGE, "strings of {} bytes are more than this compute may allocate", bytes);
  }
  constexpr char kDoing[] = "making a tensor of strings";
  OrtPtr<OrtValue> value =
      library.Make(kDoing, api.ReleaseValue, api.CreateTensorAsOrtValue, library.Allocator(), strings.dims().data(),
                   strings.dims().size(), ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING);
  for (uint64_t i = 0; i < strings.size(); ++i) {
    const std::string_view text = strings.At(i);
    char* const to = library.Get<char*>(kDoing, api.GetResizedStringTensorElementBuffer, value.get(), i, text.size());
    if (!text.empty()) std::memcpy(to, text.data(), text.size());
  }
  return value;
}

std::vector<int64_t> ReadStrings(const OrtLibrary& library, const OrtValue* value, const Port& port,
                                 MemoryBudget& budget, backend::AlignedBuffer* buffer) {
  std::vector<int64_t> dims = DimsOf(library, value);
  if (dims.size() >= WASINN_MAX_RANK) backend::CheckRank(port.name, dims.size() + 1);
  const uint64_t count = backend::TensorBytes(dims, 1);
  const Texts texts(library, value, count, port, budget);
  uint64_t longest = 0;
  for (uint64_t i = 0; i < count; ++i) longest = std::max<uint64_t>(longest, texts.At(i).size());
  Take(port, backend::StringsMemory::BytesFor(port, count, longest), budget, buffer);
  backend::StringsMemory strings(*buffer, count, longest);
  for (uint64_t i = 0; i < count; ++i) strings.Set(i, texts.At(i));
  dims.push_back(strings.width());
  return dims;
}

std::vector<int64_t> ReadElement(const OrtLibrary& library, const OrtValue* value, const Port& port,
                                 MemoryBudget& budget, backend::AlignedBuffer* buffer) {
  const auto count = library.Get<size_t>("outputs", library.api().GetValueCount, value);
  if (count != port.n_elements) {
    Throw(WASINN_ERROR_RUNTIME, "output '{}': the sequence has {} elements, and not {}", port.name, count,
          port.n_elements);
  }
  const OrtPtr<OrtValue> element = PartOf(library, value, port.element);
  if (port.is_strings) return ReadStrings(library, element.get(), port, budget, buffer);
  const OrtApi& api = library.api();
  const auto info =
      library.Make("outputs", api.ReleaseTensorTypeAndShapeInfo, api.GetTensorTypeAndShape, element.get());
  const auto type = library.Get<ONNXTensorElementDataType>("outputs", api.GetTensorElementType, info.get());
  std::vector<int64_t> dims = library.DimsOf(info.get(), "outputs");
  if (type != port.ort_type || dims.size() > WASINN_MAX_RANK) {
    backend::ThrowUnshowable(port, fmt::format("a tensor({})", OnnxName(type)), dims.size());
  }
  const uint64_t bytes = backend::TensorBytes(dims, backend::ElementSize(port.io.dtype));
  Take(port, bytes, budget, buffer);
  if (bytes > 0) std::memcpy(buffer->data(), DataOf<uint8_t>(library, element.get()), bytes);
  return dims;
}

std::vector<int64_t> ReadClassMaps(const OrtLibrary& library, const OrtValue* value, const Port& port,
                                   MemoryBudget& budget, backend::AlignedBuffer* buffer) {
  const auto rows = library.Get<size_t>("outputs", library.api().GetValueCount, value);
  const size_t columns = port.classes.names.size();
  Take(port, backend::MulSat(backend::MulSat(rows, columns), sizeof(float)), budget, buffer);
  std::unordered_map<std::string_view, size_t> places;
  for (size_t i = 0; i < columns; ++i) places.emplace(port.classes.names[i], i);
  auto* to = static_cast<float*>(buffer->data());
  for (size_t row = 0; row < rows; ++row, to += columns) {
    const OrtPtr<OrtValue> map = PartOf(library, value, row);
    const OrtPtr<OrtValue> keys = PartOf(library, map.get(), 0), values = PartOf(library, map.get(), 1);
    const uint64_t count = backend::TensorBytes(DimsOf(library, keys.get()), 1);
    const float* const from = DataOf<float>(library, values.get());
    const std::vector<std::string> named = KeysOf(library, keys.get(), count, port, budget);
    if (count != columns || places.size() != columns) {
      Throw(WASINN_ERROR_RUNTIME, "output '{}': a map has {} classes, and the model lists {}", port.name, count,
            columns);
    }
    for (uint64_t i = 0; i < count; ++i) {
      const auto place = places.find(named[i]);
      if (place == places.end()) {
        Throw(WASINN_ERROR_RUNTIME, "output '{}': the model does not list its class '{}'", port.name, named[i]);
      }
      to[place->second] = from[i];
    }
  }
  return {static_cast<int64_t>(rows), static_cast<int64_t>(columns)};
}

}  // namespace wasinn::onnx
