#include "tensorflow/tensors.h"

#include <algorithm>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "common/dtype.h"
#include "common/strings.h"
#include "common/throw.h"
#include "tensorflow/dtype.h"

namespace wasinn::tensorflow {

using backend::Throw;

Inputs::Inputs(const Model& model, void* account) : model_(model), copies_(model.host().services(), account) {
  const auto release = model.host().library()->TF_DeleteTensor;
  for (size_t i = 0; i < model.signature().inputs().size(); ++i) {
    slots_.push_back({.tensor = {nullptr, release}, .dims = {}});
    makes_copies_ = makes_copies_ || IsCopied(i);
  }
}

void Inputs::Bind(uint32_t index, const wasinn_tensor& tensor) {
  const Port& port = backend::PortAt(model_.signature().inputs(), "input", index);
  Slot& slot = slots_[index];
  slot.set = false;
  backend::CheckTensor(port, tensor);
  const std::span dims(tensor.dims, tensor.rank);
  // Memory that comes again has its tensor already: a host has few buffers of a size, and binds them again and again.
  if (slot.tensor == nullptr || slot.data != tensor.data || !std::ranges::equal(slot.dims, dims)) {
    slot.tensor.reset();
    slot.data = tensor.data;
    slot.bytes = tensor.bytes;
    slot.dims.assign(dims.begin(), dims.end());
    if (port.is_strings) (void)backend::StringsOf(port, slot.dims, slot.data);
    if (!IsCopied(index)) slot.tensor = Over(port, slot);
  }
  slot.set = true;
}

void Inputs::MakeCopies() {
  if (!makes_copies_) return;
  uint64_t total = 0;
  const auto& ports = model_.signature().inputs();
  for (size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (!slot.set || !IsCopied(i)) continue;
    total = backend::AddSat(total, slot.bytes);
    if (ports[i].is_strings) {
      const uint64_t count = backend::StringsOf(ports[i], slot.dims, slot.data).size();
      total = backend::AddSat(total, backend::MulSat(count, sizeof(TF_TString)));
    }
  }
  copies_.Resize(total);
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (!slots_[i].set || !IsCopied(i)) continue;
    slots_[i].tensor = ports[i].is_strings ? StringsOf(ports[i], slots_[i]) : CopyOf(ports[i], slots_[i]);
  }
}

TfPtr<TF_Tensor> Inputs::Over(const Port& port, const Slot& slot) const {
  static constinit std::max_align_t nothing = {};
  const TfLibrary& library = model_.host().library();
  void* const data = slot.data == nullptr ? &nothing : const_cast<void*>(slot.data);
  TF_Tensor* made = library->TF_NewTensor(
      static_cast<TF_DataType>(port.type), slot.dims.data(), static_cast<int>(slot.dims.size()), data, slot.bytes,
      [](void*, size_t, void*) {}, nullptr);
  if (made == nullptr) throw std::bad_alloc();
  return library.Own(made);
}

TfPtr<TF_Tensor> Inputs::CopyOf(const Port& port, const Slot& slot) const {
  const TfLibrary& library = model_.host().library();
  auto memory = std::make_unique<backend::AlignedBuffer>();
  memory->Assign(slot.data, slot.bytes);
  const auto release = [](void*, size_t, void* held) { delete static_cast<backend::AlignedBuffer*>(held); };
  TF_Tensor* made =
      library->TF_NewTensor(static_cast<TF_DataType>(port.type), slot.dims.data(), static_cast<int>(slot.dims.size()),
                            memory->data(), slot.bytes, release, memory.get());
  if (made == nullptr) throw std::bad_alloc();  // it has not taken over the memory
  (void)memory.release();
  return library.Own(made);
}

namespace {

// TensorFlow's strings, each with memory of its own: an operation passes on and keeps copies of them.
class TfStrings {
 public:
  TfStrings(const TfLibrary& library, size_t count) : library_(library), strings_(count) {
    for (TF_TString& one : strings_) library->TF_StringInit(&one);
  }
  ~TfStrings() {
    for (TF_TString& one : strings_) library_->TF_StringDealloc(&one);
  }
  TfStrings(const TfStrings&) = delete;
  TfStrings& operator=(const TfStrings&) = delete;

  void Set(size_t index, std::string_view text) { library_->TF_StringCopy(&strings_[index], text.data(), text.size()); }
  void* data() { return strings_.data(); }

 private:
  const TfLibrary& library_;
  std::vector<TF_TString> strings_;
};

// The strings of a tensor.
class TfTexts {
 public:
  TfTexts(const TfLibrary& library, const TF_Tensor* tensor)
      : library_(library), strings_(static_cast<const TF_TString*>(library->TF_TensorData(tensor))) {
    for (int i = 0; i < library->TF_NumDims(tensor); ++i) dims_.push_back(library->TF_Dim(tensor, i));
    count_ = backend::TensorBytes(dims_, 1);
    for (uint64_t i = 0; i < count_; ++i) longest_ = std::max<uint64_t>(longest_, At(i).size());
  }

  const std::vector<int64_t>& dims() const { return dims_; }
  uint64_t count() const { return count_; }
  uint64_t longest() const { return longest_; }
  std::string_view At(uint64_t index) const {
    return {library_->TF_StringGetDataPointer(strings_ + index), library_->TF_StringGetSize(strings_ + index)};
  }

 private:
  const TfLibrary& library_;
  const TF_TString* const strings_;
  std::vector<int64_t> dims_;
  uint64_t count_ = 0, longest_ = 0;
};

}  // namespace

TfPtr<TF_Tensor> Inputs::StringsOf(const Port& port, const Slot& slot) const {
  const TfLibrary& library = model_.host().library();
  const backend::StringsOf strings(port, slot.dims, slot.data);
  auto made = std::make_unique<TfStrings>(library, strings.size());
  for (uint64_t i = 0; i < strings.size(); ++i) made->Set(i, strings.At(i));
  const auto release = [](void*, size_t, void* held) { delete static_cast<TfStrings*>(held); };
  TF_Tensor* tensor = library->TF_NewTensor(TF_STRING, strings.dims().data(), static_cast<int>(strings.dims().size()),
                                            made->data(), strings.size() * sizeof(TF_TString), release, made.get());
  if (tensor == nullptr) throw std::bad_alloc();  // it has not taken over the memory
  (void)made.release();
  return library.Own(tensor);
}

Outputs::Outputs(const Model& model) : model_(model) {
  const auto release = model.host().library()->TF_DeleteTensor;
  for (size_t i = 0; i < model.signature().outputs().size(); ++i) {
    slots_.push_back({.tensor = {nullptr, release}, .copy = {}, .dims = {}});
  }
}

void Outputs::Release() {
  for (Slot& slot : slots_) {
    slot.tensor.reset();
    slot.there = slot.given = false;
  }
  bytes_ = 0;
}

// A tensor that shares a buffer with a constant, a variable or another output does not have the only reference to it,
// and the buffer of an input does not own its memory: TensorFlow lets neither be moved. TensorFlow's own tensors have
// no tail behind them. They need none: the core copies them for other frameworks, so only TensorFlow reads them in
// place as inputs, and its kernels are made for such tensors.
TF_Tensor* Outputs::Move(TF_Tensor* tensor) const {
  if (!model_.gives_whole_buffers()) return nullptr;
  const TfLibrary& library = model_.host().library();
  const auto address = reinterpret_cast<uintptr_t>(library->TF_TensorData(tensor));
  return address % backend::kBufferAlignment == 0 ? library->TF_TensorMaybeMove(tensor) : nullptr;
}

void Outputs::Take(size_t index, TfPtr<TF_Tensor> tensor) {
  TF_Tensor* moved = IsStrings(tensor.get()) ? nullptr : Move(tensor.get());
  if (moved == nullptr) return Copy(index, tensor.get());
  (void)tensor.release();
  Slot& slot = slots_[index];
  slot.tensor.reset(moved);
  slot.copy = {};
  Note(moved, &slot);
}

void Outputs::Note(const TF_Tensor* tensor, Slot* slot) {
  const TfLibrary& library = model_.host().library();
  slot->type = library->TF_TensorType(tensor);
  slot->bytes = library->TF_TensorByteSize(tensor);
  slot->dims.resize(static_cast<size_t>(library->TF_NumDims(tensor)));
  for (size_t i = 0; i < slot->dims.size(); ++i) slot->dims[i] = library->TF_Dim(tensor, static_cast<int>(i));
  slot->there = true;
  bytes_ += slot->bytes;
}

void Outputs::Copy(size_t index, const TF_Tensor* tensor) {
  Slot& slot = slots_[index];
  const TfLibrary& library = model_.host().library();
  if (IsStrings(tensor)) return CopyStrings(index, tensor);
  slot.copy.Assign(library->TF_TensorData(tensor), library->TF_TensorByteSize(tensor));
  Note(tensor, &slot);
}

bool Outputs::IsStrings(const TF_Tensor* tensor) const {
  return model_.host().library()->TF_TensorType(tensor) == TF_STRING;
}

uint64_t Outputs::BytesOf(size_t index, const TF_Tensor* tensor) const {
  const TfLibrary& library = model_.host().library();
  if (!IsStrings(tensor)) return library->TF_TensorByteSize(tensor);
  const TfTexts texts(library, tensor);
  return backend::StringsMemory::BytesFor(model_.signature().outputs()[index], texts.count(), texts.longest());
}

void Outputs::CopyStrings(size_t index, const TF_Tensor* tensor) {
  Slot& slot = slots_[index];
  const Port& port = model_.signature().outputs()[index];
  const TfTexts texts(model_.host().library(), tensor);
  const uint64_t bytes = backend::StringsMemory::BytesFor(port, texts.count(), texts.longest());
  slot.copy.Fit(bytes);
  backend::StringsMemory strings(slot.copy, texts.count(), texts.longest());
  for (uint64_t i = 0; i < texts.count(); ++i) strings.Set(i, texts.At(i));
  Note(tensor, &slot);
  bytes_ += bytes - slot.bytes;
  slot.bytes = bytes;
  slot.dims.push_back(strings.width());
}

void Outputs::View(uint32_t index, wasinn_tensor* view) {
  const Port& port = backend::PortAt(model_.signature().outputs(), "output", index);
  Slot& slot = slots_[index];
  if (!slot.there) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "output '{}' {}: compute again", port.name,
          slot.given ? "was taken" : "was not wanted");
  }
  const wasinn_dtype dtype = slot.type == TF_STRING ? WASINN_DTYPE_U8 : FromTf(slot.type);
  if (dtype == WASINN_DTYPE_UNKNOWN || slot.dims.size() > WASINN_MAX_RANK) {
    backend::ThrowUnshowable(port, TfName(slot.type), slot.dims.size());
  }
  const bool is_copy = slot.tensor == nullptr;
  *view = backend::ViewOf(dtype, slot.dims,
                          is_copy ? slot.copy.data() : model_.host().library()->TF_TensorData(slot.tensor.get()));
}

void Outputs::Give(uint32_t index, wasinn_tensor* out) {
  View(index, out);
  Slot& slot = slots_[index];
  if (slot.tensor != nullptr) {
    backend::GiveAway(std::make_unique<TfPtr<TF_Tensor>>(std::move(slot.tensor)), out);
  } else {
    backend::GiveAway(std::make_unique<backend::AlignedBuffer>(std::move(slot.copy)), out);
  }
  slot.there = false;
  slot.given = true;
}

}  // namespace wasinn::tensorflow
