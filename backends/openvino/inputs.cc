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

// OpenVINO would look only when the request gets the input, which may be no sooner than the run.
void CheckBounds(const Port& port, const wasinn_tensor& tensor) {
  for (size_t i = 0; i < port.bounds.size(); ++i) {
    const auto [min, max] = port.bounds[i];
    const int64_t dim = tensor.dims[i];
    if (dim >= min && (max < 0 || dim <= max)) continue;
    throw Error(WASINN_ERROR_INVALID_ARGUMENT,
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
    slots_.push_back({.tensor = {nullptr, free}, .dims = {}});
    slots_.back().dims.reserve(port.dims.size());
  }
}

void Inputs::ForgetRequest() {
  check_ = true;
  for (Slot& slot : slots_) slot.given = false;
}

// Memory that comes back is given already: a host has few buffers of a size, and binds them again and again.
void Inputs::Bind(uint32_t index, const wasinn_tensor& tensor) {
  if (index >= slots_.size()) backend::ThrowNoPort("input", index, slots_.size());
  Slot& slot = slots_[index];
  if (std::exchange(slot.set, false)) check_ = true;
  const bool same = slot.tensor != nullptr && slot.data == tensor.data &&
                    std::ranges::equal(slot.dims, std::span(tensor.dims, tensor.rank));
  if (!same) Make(index, tensor);
  if (!slot.given) Offer(index);
  slot.set = true;
}

void Inputs::Unbind(uint32_t index) {
  slots_[index].set = false;
  check_ = true;
}

void Inputs::Make(uint32_t index, const wasinn_tensor& tensor) {
  const Port& port = backend::PortAt(model_.signature().inputs(), "input", index);
  backend::CheckTensor(port, tensor);
  CheckBounds(port, tensor);
  // OpenVINO takes no NULL, not even for no bytes.
  static constexpr char kNothing = 0;
  void* const data = tensor.data != nullptr ? tensor.data : const_cast<char*>(&kNothing);
  const ov_shape_t shape = {.rank = static_cast<int64_t>(tensor.rank), .dims = const_cast<int64_t*>(tensor.dims)};
  ov_tensor_t* made = nullptr;
  const OvLibrary& library = model_.host().library();
  library.Check(library.api().ov_tensor_create_from_host_ptr(port.ov_type, shape, data, &made), port.name.c_str(),
                WASINN_ERROR_INVALID_ARGUMENT);
  Slot& slot = slots_[index];
  slot.tensor.reset(made);
  slot.given = false;
  slot.data = tensor.data;
  slot.bytes = tensor.bytes;
  const std::span dims(tensor.dims, tensor.rank);
  reshaped_ = reshaped_ || !std::ranges::equal(slot.dims, dims);
  slot.dims.assign(dims.begin(), dims.end());
}

void Inputs::Offer(uint32_t index) {
  if (model_.compiled()->has_open_shapes() || request_->get() == nullptr) {
    check_ = true;
  } else {
    Give(index);
  }
}

void Inputs::Give(uint32_t index) {
  const OvLibrary& library = model_.host().library();
  const auto set = library.api().ov_infer_request_set_input_tensor_by_index;
  library.Check(set(request_->get(), index, slots_[index].tensor.get()),
                model_.signature().inputs()[index].name.c_str(), WASINN_ERROR_INVALID_ARGUMENT);
  slots_[index].given = true;
}

std::optional<uint32_t> Inputs::Find(const void* data) const {
  const auto found = std::ranges::find_if(slots_, [&](const Slot& slot) {
    if (!slot.set) return false;
    const std::less<> before;
    const auto* begin = static_cast<const char*>(slot.data);
    return !before(data, begin) && before(data, begin + slot.bytes);
  });
  if (found == slots_.end()) return std::nullopt;
  return static_cast<uint32_t>(found - slots_.begin());
}

void Inputs::BeforeRun() {
  if (!check_) return;
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    if (!slots_[i].set) backend::ThrowUnset(model_.signature().inputs()[i]);
    if (!slots_[i].given) Give(i);
  }
  check_ = false;
}

}  // namespace wasinn::openvino
