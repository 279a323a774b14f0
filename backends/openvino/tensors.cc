#include "openvino/tensors.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <span>

#include "common/dtype.h"
#include "common/throw.h"
#include "openvino/signature.h"

namespace wasinn::openvino {

using backend::Throw;

namespace {

// OpenVINO would check them when the request gets the input, perhaps only in the run.
void CheckBounds(const Port& port, const wasinn_tensor& tensor) {
  for (size_t i = 0; i < port.bounds.size(); ++i) {
    const auto [min, max] = port.bounds[i];
    const int64_t dim = tensor.dims[i];
    if (dim >= min && (max < 0 || dim <= max)) continue;
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "dimension {} of input '{}' is {}: expected {}", i, port.name, dim,
          max < 0 ? fmt::format("at least {}", min) : fmt::format("from {} to {}", min, max));
  }
}

// A smaller copy takes at most 1 µs, as long as OpenVINO takes to set other memory.
constexpr uint64_t kWorthExchanging = 64 << 10;

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

// Memory that comes again is set already: a host has few buffers of a size, and binds them again and again.
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

void Inputs::Make(uint32_t index, const wasinn_tensor& tensor) {
  const Port& port = backend::PortAt(model_.signature().inputs(), "input", index);
  backend::CheckTensor(port, tensor);
  CheckBounds(port, tensor);
  // OpenVINO accepts no NULL, not even for no bytes.
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

Outputs::Outputs(const Model& model) : model_(model), behind_copies_(model.signature().inputs().size()) {
  for (const Port& port : model.signature().outputs()) {
    const bool fixed = port.servable() && port.fixed_shape();
    slots_.push_back({.fixed = fixed, .tensor = {nullptr, model.host().api().ov_tensor_free}, .view = {}, .dims = {}});
    has_dynamic_ = has_dynamic_ || !fixed;
    if (!fixed) continue;
    fixed_bytes_ = backend::AddSat(fixed_bytes_, port.bytes());
  }
}

void Outputs::ForgetRequest() {
  kept_bytes_ = all_behind_copies_ = 0;
  has_run_ = some_gone_ = false;
  std::ranges::fill(behind_copies_, 0);
  for (Slot& slot : slots_) {
    slot.tensor.reset();
    if (slot.home != nullptr) slot.home->End();
    slot.home.reset();
    slot.buffer = {};
    slot.copy = {};
    slot.taken = slot.gone = false;
    slot.most = 0;
  }
}

uint64_t Outputs::AfterRun(ov_infer_request_t* request, const Inputs& inputs) {
  uint64_t bytes = 0;
  kept_bytes_ = 0;
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    slot.taken = false;
    if (model_.signature().outputs()[i].servable()) {
      Look(request, i, &slot);
      Count(inputs, &slot);
      bytes = backend::AddSat(bytes, slot.view.bytes);
    } else {
      bytes = backend::AddSat(bytes, CountUnshown(request, i, &slot));
    }
  }
  kept_bytes_ += all_behind_copies_;
  if (!std::exchange(has_run_, true) && model_.exchanges_outputs()) FindExchangeable();
  return bytes;
}

void Outputs::Count(const Inputs& inputs, Slot* slot) {
  const std::optional<uint32_t> input = slot->view.bytes == 0 ? std::nullopt : inputs.Find(slot->data);
  slot->passed_on = input.has_value();
  if (!input) slot->copy = {};
  if (slot->fixed) return;
  if (input) {
    uint64_t& most = behind_copies_[*input];
    const uint64_t more = std::max<uint64_t>(most, slot->view.bytes) - most;
    most += more;
    all_behind_copies_ += more;
    kept_bytes_ += slot->most;
  } else {
    slot->most = std::max<uint64_t>(slot->most, slot->view.bytes);
    kept_bytes_ += slot->most - slot->view.bytes;
  }
}

// The core does not ask for these, and charges none.
uint64_t Outputs::CountUnshown(ov_infer_request_t* request, uint32_t index, Slot* slot) {
  const Port& port = model_.signature().outputs()[index];
  const OvLibrary& library = model_.host().library();
  ov_tensor_t* raw = nullptr;
  library.Check(library.api().ov_infer_request_get_output_tensor_by_index(request, index, &raw), port.name.c_str());
  const OvPtr<ov_tensor_t> tensor(raw, library.api().ov_tensor_free);
  size_t bytes = 0;
  library.Check(library.api().ov_tensor_get_byte_size(raw, &bytes), port.name.c_str());
  slot->most = std::max<uint64_t>(slot->most, bytes);
  kept_bytes_ += slot->most;
  return bytes;
}

void Outputs::CopyPassedOn() {
  for (Slot& slot : slots_) {
    if (!slot.passed_on) continue;
    slot.copy.Assign(slot.data, slot.view.bytes);
    slot.view.data = slot.copy.data();
  }
}

void Outputs::Look(ov_infer_request_t* request, uint32_t index, Slot* slot) const {
  const Port& port = model_.signature().outputs()[index];
  const OvLibrary& library = model_.host().library();
  const bool known = slot->fixed && slot->view.struct_size != 0;
  ov_tensor_t* raw = nullptr;
  library.Check(library.api().ov_infer_request_get_output_tensor_by_index(request, index, &raw), port.name.c_str());
  slot->tensor.reset(raw);
  if (!known) ReadShape(port, slot);
  slot->data = nullptr;
  if (slot->view.bytes > 0) library.Check(library.api().ov_tensor_data(raw, &slot->data), port.name.c_str());
  slot->view.data = slot->data;
}

void Outputs::ReadShape(const Port& port, Slot* slot) const {
  const OvLibrary& library = model_.host().library();
  const OvApi& api = library.api();
  ov_element_type_e type = DYNAMIC;
  library.Check(api.ov_tensor_get_element_type(slot->tensor.get(), &type), port.name.c_str());
  ov_shape_t shape = {};
  const ov_status_e status = api.ov_tensor_get_shape(slot->tensor.get(), &shape);
  // The C API calls a scalar's shape an invalid parameter.
  if (status != INVALID_C_PARAM) library.Check(status, port.name.c_str());
  slot->dims.assign(shape.dims, shape.dims + shape.rank);
  if (status == OK) api.ov_shape_free(&shape);
  if (FromOv(type) == WASINN_DTYPE_UNKNOWN || slot->dims.size() > WASINN_MAX_RANK) {
    backend::ThrowUnshowable(port, OvName(type), slot->dims.size());
  }
  slot->view = backend::ViewOf(FromOv(type), slot->dims, nullptr);
}

void Outputs::View(uint32_t index, wasinn_tensor* view) const { *view = Shown(index).view; }

void Outputs::Discard() {
  for (Slot& slot : slots_) {
    if (!slot.fixed) slot.copy = {};
  }
}

// Only a run shows which outputs are inputs. Two outputs of one node are one tensor of OpenVINO's.
void Outputs::FindExchangeable() {
  std::vector<const void*> places;
  places.reserve(slots_.size());
  for (const Slot& slot : slots_) places.push_back(slot.data);
  std::ranges::sort(places, std::less<>());
  for (Slot& slot : slots_) {
    if (!slot.fixed || slot.passed_on || slot.view.bytes < kWorthExchanging) continue;
    const bool shared = std::ranges::equal_range(places, slot.data, std::less<>()).size() > 1;
    if (!shared) slot.home = std::make_shared<Homecoming>();
  }
}

void Outputs::BeforeRun(ov_infer_request_t* request) {
  if (!some_gone_) return;
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].gone) Renew(request, i, &slots_[i]);
  }
  some_gone_ = false;
}

void Outputs::Renew(ov_infer_request_t* request, uint32_t index, Slot* slot) const {
  OutputMemory memory = slot->home->End();
  if (memory.data == nullptr) {
    memory.buffer = backend::AlignedBuffer(slot->view.bytes);
    memory.data = memory.buffer.data();
  }
  // The request writes to its last memory, even if others have used that in the meantime.
  if (memory.data != slot->data) SetTensor(request, index, *slot, &memory);
  slot->data = memory.data;
  slot->buffer = std::move(memory.buffer);
  slot->gone = false;
}

void Outputs::SetTensor(ov_infer_request_t* request, uint32_t index, const Slot& slot, OutputMemory* memory) const {
  const Port& port = model_.signature().outputs()[index];
  const OvLibrary& library = model_.host().library();
  if (memory->tensor == nullptr) {
    const ov_shape_t shape = {.rank = static_cast<int64_t>(slot.dims.size()),
                              .dims = const_cast<int64_t*>(slot.dims.data())};
    ov_tensor_t* made = nullptr;
    library.Check(library.api().ov_tensor_create_from_host_ptr(port.ov_type, shape, memory->data, &made),
                  port.name.c_str());
    memory->tensor = {made, library.api().ov_tensor_free};
  }
  library.Check(library.api().ov_infer_request_set_output_tensor_by_index(request, index, memory->tensor.get()),
                port.name.c_str());
}

void Outputs::Take(uint32_t index, wasinn_tensor* out) {
  const uint64_t stays = StaysBehind(index);
  Slot& slot = slots_[index];
  *out = slot.view;
  if (slot.home != nullptr) {
    Give(&slot, out);
  } else {
    GiveCopy(&slot, out);
  }
  slot.taken = true;
  kept_bytes_ += stays;
}

void Outputs::Give(Slot* slot, wasinn_tensor* out) {
  auto given = std::make_unique<GivenOutput>();  // before anything is moved there
  given->memory = {.data = slot->data, .buffer = std::exchange(slot->buffer, {}), .tensor = std::move(slot->tensor)};
  given->home = slot->home;
  slot->home->Await();
  slot->gone = some_gone_ = true;
  out->owner = given.release();
  out->release = GivenOutput::Release;
}

}  // namespace wasinn::openvino
