#include "openvino/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "common/error.h"
#include "openvino/dtype.h"

namespace wasinn::openvino {

using backend::Error;

namespace {

bool SameDims(const std::vector<int64_t>& dims, const wasinn_tensor& tensor) {
  return std::ranges::equal(dims, std::span(tensor.dims, tensor.rank));
}

// OpenVINO would look only when the request gets the input, which may be no sooner than the run.
void CheckBounds(const Port& port, const wasinn_tensor& tensor) {
  for (size_t i = 0; i < port.bounds.size(); ++i) {
    const auto [min, max] = port.bounds[i];
    const int64_t dim = tensor.dims[i];
    if (dim >= min && (max < 0 || dim <= max)) continue;
    throw Error(WASINN_INVALID_ARGUMENT,
                fmt::format("dimension {} of input '{}' is {}: expected {}", i, port.name, dim,
                            max < 0 ? fmt::format("at least {}", min) : fmt::format("from {} to {}", min, max)));
  }
}

}  // namespace

Inputs::Inputs(const Model& model, const Compiled::Request* request) : model_(model), request_(request) {
  const auto free = model.host().api().ov_tensor_free;
  const auto& ports = model.signature().inputs();
  slots_.reserve(ports.size());
  for (const Port& port : ports) {
    slots_.push_back({.buffer = {},
                      .own = {.tensor = {nullptr, free}, .dims = {}},
                      .lent = {.tensor = {nullptr, free}, .dims = {}}});
    slots_.back().own.dims.reserve(port.dims.size());
    slots_.back().lent.dims.reserve(port.dims.size());
  }
}

void Inputs::ForgetRequest() {
  check_ = true;
  for (Slot& slot : slots_) slot.bound = nullptr;
}

Inputs::Slot& Inputs::At(uint32_t index) {
  if (index < slots_.size()) return slots_[index];
  backend::ThrowNoPort("input", index, slots_.size());
}

void Inputs::Set(uint32_t index, wasinn_tensor* tensor) {
  Slot& slot = At(index);
  if (slot.own.tensor == nullptr || !SameDims(slot.own.dims, *tensor)) {
    const Port& port = backend::PortAt(model_.signature().inputs(), "input", index);
    backend::CheckTensor(port, *tensor);
    CheckBounds(port, *tensor);
    // Nothing of the slot changes before all that can fail has been done.
    backend::AlignedBuffer buffer;
    if (!slot.buffer.IsFor(tensor->bytes)) buffer = backend::AlignedBuffer(tensor->bytes);
    Value value = {.tensor = {nullptr, model_.host().api().ov_tensor_free}, .dims = {}};
    Make(port, *tensor, buffer.data() != nullptr ? buffer.data() : slot.buffer.data(), &value);
    const bool bound = Offer(index, value);
    reshaped_ = true;
    std::swap(slot.own, value);
    // The old buffer goes when the request has the new one.
    if (buffer.data() != nullptr) std::swap(slot.buffer, buffer);
    slot.bound = bound ? &slot.own : nullptr;
  } else if (slot.bound != &slot.own) {
    slot.bound = Offer(index, slot.own) ? &slot.own : nullptr;
  }
  slot.wanted = &slot.own;
  tensor->data = slot.buffer.data();
}

// Memory that comes back is bound already: a host has few buffers of a size, and lends them again and again.
void Inputs::Lend(uint32_t index, const wasinn_tensor& tensor) {
  Slot& slot = At(index);
  if (slot.lent.tensor == nullptr || slot.lent.data != tensor.data || !SameDims(slot.lent.dims, tensor)) {
    const Port& port = backend::PortAt(model_.signature().inputs(), "input", index);
    backend::CheckTensor(port, tensor);
    CheckBounds(port, tensor);
    Value value = {.tensor = {nullptr, model_.host().api().ov_tensor_free}, .dims = {}};
    // OpenVINO takes no NULL, not even for no bytes.
    static constexpr char kNothing = 0;
    Make(port, tensor, tensor.data != nullptr ? tensor.data : const_cast<char*>(&kNothing), &value);
    const bool bound = Offer(index, value);
    value.data = tensor.data;
    reshaped_ = reshaped_ || value.dims != slot.lent.dims;
    slot.lent = std::move(value);
    slot.bound = bound ? &slot.lent : nullptr;
  } else if (slot.bound != &slot.lent) {
    slot.bound = Offer(index, slot.lent) ? &slot.lent : nullptr;
  }
  slot.wanted = &slot.lent;
}

void Inputs::Unset(uint32_t index) {
  slots_[index].wanted = nullptr;
  check_ = true;
}

void Inputs::Make(const Port& port, const wasinn_tensor& tensor, void* data, Value* value) const {
  value->dims.assign(tensor.dims, tensor.dims + tensor.rank);
  const ov_shape_t shape = {.rank = static_cast<int64_t>(tensor.rank), .dims = value->dims.data()};
  ov_tensor_t* raw = nullptr;
  const OvLibrary& library = model_.host().library();
  library.Check(library.api().ov_tensor_create_from_host_ptr(port.ov_type, shape, data, &raw), port.name.c_str(),
                WASINN_INVALID_ARGUMENT);
  value->tensor.reset(raw);
  value->data = data;
  value->bytes = tensor.bytes;
}

bool Inputs::Offer(uint32_t index, const Value& value) {
  if (model_.compiled()->has_open_shapes() || request_->get() == nullptr) {
    check_ = true;
    return false;
  }
  Bind(index, value);
  return true;
}

void Inputs::Bind(uint32_t index, const Value& value) {
  const OvLibrary& library = model_.host().library();
  library.Check(library.api().ov_infer_request_set_input_tensor_by_index(request_->get(), index, value.tensor.get()),
                model_.signature().inputs()[index].name.c_str(), WASINN_INVALID_ARGUMENT);
}

std::optional<uint32_t> Inputs::Find(const void* data) const {
  const auto found = std::ranges::find_if(slots_, [&](const Slot& slot) {
    if (slot.wanted == nullptr) return false;
    const std::less<> before;
    const auto* begin = static_cast<const char*>(slot.wanted->data);
    return !before(data, begin) && before(data, begin + slot.wanted->bytes);
  });
  if (found == slots_.end()) return std::nullopt;
  return static_cast<uint32_t>(found - slots_.begin());
}

void Inputs::BeforeRun() {
  if (!check_) return;
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (slot.wanted == nullptr) {
      throw Error(WASINN_INVALID_ARGUMENT, fmt::format("input '{}' is not set", model_.signature().inputs()[i].name));
    }
    if (slot.bound == slot.wanted) continue;
    Bind(i, *slot.wanted);
    slot.bound = slot.wanted;
  }
  check_ = false;
}

}  // namespace wasinn::openvino
