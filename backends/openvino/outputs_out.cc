// The part of a context's outputs that gives them away.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>

#include "openvino/outputs.h"

namespace wasinn::openvino {

namespace {

// A copy of less takes 1 µs at most, which is what OpenVINO takes to be told of other memory.
constexpr uint64_t kWorthExchanging = 64 << 10;

}  // namespace

// Only a run tells which outputs are inputs. Two outputs of one node are one tensor of OpenVINO's.
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
  // The request writes to the place that it was given last, whoever has had it meanwhile.
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

uint64_t Outputs::StaysBehind(uint32_t index) const {
  const Slot& slot = Shown(index);
  return slot.fixed || slot.passed_on ? 0 : slot.view.bytes;
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

void Outputs::GiveCopy(Slot* slot, wasinn_tensor* out) {
  if (!slot->passed_on) slot->copy.Assign(slot->data, slot->view.bytes);
  out->data = out->owner = slot->copy.release();
  out->release = std::free;
}

}  // namespace wasinn::openvino
