#include "worker/slot.h"

#include <algorithm>
#include <cstring>

#include "core/memory/tensor.h"

namespace wasinn::worker {
namespace {

using isolation::kNowhere;
using isolation::RoundUp;

core::Status NoArea(const char* what) {
  return core::Error(WASINN_ERROR_RUNTIME, "the host asked for {} outside of its area", what);
}

core::Status Lacks(const char* function) {
  return core::Error(WASINN_ERROR_UNSUPPORTED_OPERATION, "the host asked for '{}', which the backend does not have",
                     function);
}

}  // namespace

Slot::~Slot() {
  if (slot_ != nullptr) table().slot_free(slot_);
}

core::Status Slot::Open(uint64_t max_bytes, const std::string& config) {
  const wasinn_slot_options options{.struct_size = sizeof(wasinn_slot_options),
                                    .max_bytes = max_bytes,
                                    .guest_config = config.c_str(),
                                    .account = &account_,
                                    .token = &gate_,
                                    .on_cancel = &Gate::Register};
  core::Status status = Take(table().slot_new(graph_->graph, &options, &slot_));
  if (!status.ok() || graph_->info.outputs == nullptr) return status;
  for (const wasinn_io* io : std::span(graph_->info.outputs, graph_->info.n_outputs)) {
    const bool bindable = (io->flags & WASINN_IO_BINDABLE) != 0 && table().bind_output != nullptr;
    bound_at_.push_back(bindable ? bound_bytes_ : kNowhere);
    if (bindable) bound_bytes_ += RoundUp(core::StaticSize(*io).value_or(0));
  }
  return {};
}

void Slot::Interrupt(uint64_t turn) {
  gate_.InterruptRegistered();
  if (table().cancel != nullptr) gate_.Interrupt(turn, [this] { table().cancel(slot_); });
}

// Bindings in the old area come again with the next request.
core::Status Slot::UseInputArea(isolation::Segment area) {
  for (uint32_t i = 0; i < graph_->info.n_inputs; ++i) table().unbind_input(slot_, i);
  shared_.clear();
  input_area_ = std::move(area);
  return {};
}

core::Status Slot::UseOutputArea(isolation::Segment area) {
  // Outputs of the last compute stay in their bound memory until the next.
  if (computed_ && !elsewhere_ && bound_bytes_ > 0 && output_area_.size() >= bound_bytes_ &&
      area.size() >= bound_bytes_) {
    std::memcpy(area.data(), output_area_.data(), bound_bytes_);
  }
  output_area_ = std::move(area);
  return BindOutputs();
}

core::Status Slot::BindOutputs() {
  if (bound_bytes_ > output_area_.size()) return NoArea("outputs");
  for (uint32_t i = 0; i < bound_at_.size(); ++i) {
    if (bound_at_[i] == kNowhere) continue;
    const wasinn_io& io = *graph_->info.outputs[i];
    const wasinn_tensor tensor{.struct_size = sizeof(wasinn_tensor),
                               .dtype = io.dtype,
                               .rank = static_cast<uint32_t>(io.rank),
                               .dims = io.dims,
                               .data = output_area_.data() + bound_at_[i],
                               .bytes = core::StaticSize(io).value_or(0),
                               .owner = nullptr,
                               .release = nullptr};
    if (core::Status status = Take(table().bind_output(slot_, i, &tensor)); !status.ok()) return status;
  }
  return {};
}

// ---- Inputs

core::Status Slot::BindOne(isolation::Reader& request) {
  const auto index = request.Number<uint32_t>(), segment = request.Number<uint32_t>();
  const auto offset = request.Number<uint64_t>();
  if (!request.ok() || index >= graph_->info.n_inputs) return NoArea("an input");
  if (offset == kNowhere) {
    table().unbind_input(slot_, index);
    shared_.erase(index);
    return {};
  }
  isolation::TensorDesc desc;
  if (!isolation::ReadDesc(request, desc)) return NoArea("an input");
  const auto shared = segment == isolation::kArea ? nullptr : graph_->shared.Find(segment);
  const isolation::Segment& place = shared == nullptr ? input_area_ : *shared;
  if (core::ByteSize(desc.dtype, desc.shape()) != desc.bytes) {
    return core::Error(WASINN_ERROR_RUNTIME, "the host described an input of {} bytes as {}", desc.bytes,
                       core::Describe(desc));
  }
  // Less than 2^63 bytes: the sum does not overflow.
  if (RoundUp(desc.bytes) > place.size() || offset > place.size() - RoundUp(desc.bytes)) return NoArea("an input");
  const wasinn_tensor tensor = core::ViewOf(desc, {place.data() + offset, desc.bytes});
  core::Status status = Take(table().bind_input(slot_, index, &tensor));
  if (!status.ok()) return status;
  if (shared == nullptr) {
    shared_.erase(index);
  } else {
    shared_[index] = shared;
  }
  return {};
}

core::Status Slot::Reset() {
  computed_ = false;
  if (core::Status status = table().reset == nullptr ? Lacks("reset") : Take(table().reset(slot_)); !status.ok()) {
    return status;
  }
  shared_.clear();
  return output_area_.size() > 0 ? BindOutputs() : core::Status();
}

// Reads all of them, so that the rest of the message is read correctly; reports the first error.
core::Status Slot::Bind(isolation::Reader& request) {
  core::Status first;
  if (request.Number<uint8_t>() != 0) first = Reset();
  const auto count = request.Number<uint32_t>();
  for (uint32_t i = 0; i < count && request.ok(); ++i) {
    core::Status status = BindOne(request);
    if (first.ok() && !status.ok()) first = std::move(status);
  }
  return first;
}

// ---- Computes

core::Status Slot::Compute(isolation::Reader& request, isolation::Writer& payload) {
  const auto turn = request.Number<uint64_t>();
  computed_ = false;
  core::Status bound = Bind(request);
  wasinn_compute_options options{};
  options.struct_size = sizeof(options);
  options.deadline_ms = request.Number<uint64_t>();
  options.max_bytes = request.Number<uint64_t>();
  options.n_wanted = request.Number<uint32_t>();
  wanted_.clear();
  for (uint32_t i = 0; i < options.n_wanted && request.ok(); ++i) wanted_.push_back(request.Number<uint32_t>());
  if (!bound.ok()) return bound;
  if (!request.ended()) return NoArea("a compute");
  options.wanted = wanted_.data();
  wasinn_compute_result result{.struct_size = sizeof(result), .flags = 0};
  core::Status status;
  {
    const Gate::Inside inside(gate_, turn);
    status = Take(table().compute(slot_, &options, &result));
  }
  elsewhere_ = (result.flags & WASINN_OUTPUTS_ELSEWHERE) != 0;
  if (!status.ok() && status.code() != WASINN_ERROR_CONTEXT_FULL) return status;
  computed_ = true;
  if (core::Status written = WriteOutputs(payload); !written.ok()) return written;
  return status;
}

core::Status Slot::Step(isolation::Reader& request, isolation::Writer& payload) {
  if (table().step == nullptr) return Lacks("step");
  const auto turn = request.Number<uint64_t>();
  if (core::Status bound = Bind(request); !bound.ok()) return bound;
  core::Status status;
  {
    const Gate::Inside inside(gate_, turn);
    status = Take(table().step(slot_));
  }
  const bool shows =
      status.ok() || status.code() == WASINN_ERROR_CONTEXT_FULL || status.code() == WASINN_ERROR_END_OF_SEQUENCE;
  if (!shows) return status;
  computed_ = true;
  if (core::Status written = WriteOutputs(payload); !written.ok()) return written;
  return status;
}

core::Status Slot::Finish() {
  if (table().finish == nullptr) return Lacks("finish");
  return Take(table().finish(slot_));
}

void Slot::Discard() {
  if (table().discard_outputs != nullptr) table().discard_outputs(slot_);
}

// ---- Outputs

core::Result<std::span<const wasinn_io* const>> Slot::OutputsNow(isolation::Writer& payload) const {
  if (graph_->info.outputs != nullptr || graph_->info.n_outputs == 0) {
    return std::span(graph_->info.outputs, graph_->info.n_outputs);
  }
  const wasinn_io* const* ios = nullptr;
  uint32_t count = 0;
  if (computed_) {
    if (table().outputs == nullptr) return std::unexpected(Lacks("outputs"));
    core::Status status = Take(table().outputs(slot_, &ios, &count));
    if (!status.ok()) return std::unexpected(std::move(status));
  }
  isolation::Ios::Write(payload, {ios, count});
  return std::span(ios, count);
}

void Slot::TakeView(wasinn_error* error, const wasinn_tensor& tensor, View& view) const {
  view.status = Take(error);
  if (!view.status.ok()) return;
  if (tensor.rank > WASINN_MAX_RANK) {
    view.status = core::Status(WASINN_ERROR_UNSUPPORTED_OPERATION, "it has too many dimensions");
    return;
  }
  view.desc = {core::DescOf(tensor), tensor.bytes};
  view.data = tensor.data;
}

Slot::View Slot::ViewOf(uint32_t index, const wasinn_io& io) const {
  View view;
  wasinn_tensor tensor{.struct_size = sizeof(wasinn_tensor)};
  if ((io.flags & WASINN_IO_UNSERVABLE) != 0) {
    view.status = core::Status(WASINN_ERROR_UNSUPPORTED_OPERATION, "it is not a tensor of numbers");
  } else if (!computed_ && (io.flags & WASINN_IO_ALWAYS) == 0) {
    view.status = core::Status(WASINN_ERROR_INVALID_ARGUMENT, "there is no output before a compute");
  } else if (index < bound_at_.size() && bound_at_[index] != kNowhere && !elsewhere_) {
    view.bound = true;
    view.offset = bound_at_[index];
    tensor.dtype = io.dtype;
    tensor.rank = static_cast<uint32_t>(io.rank);
    tensor.dims = io.dims;
    tensor.bytes = core::StaticSize(io).value_or(0);
    TakeView(nullptr, tensor, view);
  } else {
    wasinn_error* error = table().output(slot_, index, &tensor);
    TakeView(error, tensor, view);
  }
  return view;
}

// Places views from `end` on. Returns the whole size.
uint64_t Slot::Place(std::span<View> views, uint64_t end) {
  for (View& view : views) {
    if (!view.status.ok() || view.bound) continue;
    view.offset = end;
    end += RoundUp(view.desc.bytes);
  }
  return end;
}

void Slot::WriteView(const View& view, const isolation::Segment& area, isolation::Writer& payload) {
  payload.Number(static_cast<uint32_t>(view.status.code()));
  if (!view.status.ok()) return payload.Text(view.status.message());
  const uint64_t bytes = view.desc.bytes;
  const bool fits = bytes <= area.size() && view.offset <= area.size() - bytes;
  if (fits && !view.bound && bytes > 0) std::memcpy(area.data() + view.offset, view.data, bytes);
  payload.Number(fits ? view.offset : kNowhere);
  isolation::WriteDesc(payload, view.desc.dtype, view.desc.shape(), bytes);
}

core::Status Slot::WriteOutputs(isolation::Writer& payload) {
  const size_t needed_at = payload.used();
  payload.Number(uint64_t{0});
  const auto ios = OutputsNow(payload);
  if (!ios) return core::Copy(ios.error());
  views_.clear();
  for (uint32_t i = 0; i < ios->size(); ++i) views_.push_back(ViewOf(i, *(*ios)[i]));
  payload.NumberAt(needed_at, Place(views_, bound_bytes_));  // after the bound outputs
  payload.Number(static_cast<uint32_t>(views_.size()));
  for (const View& view : views_) WriteView(view, output_area_, payload);
  views_.clear();
  return {};
}

core::Status Slot::Show(isolation::Reader& request, isolation::Writer& payload) {
  if (request.Number<uint8_t>() != 0) {
    if (core::Status status = Reset(); !status.ok()) return status;
  }
  return WriteOutputs(payload);
}

core::Status Slot::Piece(uint32_t index, isolation::Writer& payload) {
  if (table().piece == nullptr) return Lacks("piece");
  View view;
  wasinn_tensor tensor{.struct_size = sizeof(wasinn_tensor)};
  wasinn_error* error = table().piece(slot_, index, &tensor);
  TakeView(error, tensor, view);
  if (!view.status.ok()) return std::move(view.status);
  payload.Number(Place({&view, 1}, 0));
  WriteView(view, piece_area_, payload);
  return {};
}

}  // namespace wasinn::worker
