// The part of a context that knows which outputs there are and which of them are wanted.
#include <algorithm>
#include <charconv>
#include <deque>
#include <string>

#include "core/context_internal.h"

namespace wasinn::core {

namespace {

// More than any model has, and little to keep.
constexpr uint32_t kMostLateOutputs = 4096;

Status NotComputed() { return Error(WASINN_INVALID_ARGUMENT, "there is no output before a successful compute"); }

}  // namespace

// What a backend told of the outputs of one compute, copied: a guest's list of names may outlive the next compute.
class Context::LateOutputs {
 public:
  explicit LateOutputs(std::span<const wasinn_io* const> ios) {
    for (const wasinn_io* io : ios) {
      wasinn_io& copy = ios_.emplace_back(*io);  // of this version's size, as was checked
      copy.struct_size = sizeof(wasinn_io);
      copy.name = names_.emplace_back(io->name).c_str();
      if (io->rank > 0) copy.dims = dims_.emplace_back(io->dims, io->dims + io->rank).data();
      pointers_.push_back(&copy);
    }
  }
  LateOutputs(const LateOutputs&) = delete;
  LateOutputs& operator=(const LateOutputs&) = delete;

  std::span<const wasinn_io* const> ios() const { return pointers_; }

 private:
  std::deque<std::string> names_;
  std::deque<std::vector<int64_t>> dims_;
  std::deque<wasinn_io> ios_;
  std::vector<const wasinn_io*> pointers_;
};

Status Context::ReadOutputs() {
  const wasinn_io* const* ios = nullptr;
  uint32_t count = 0;
  if (Status status = graph_->backend().Take(table().outputs(context_, &ios, &count)); !status.ok()) return status;
  if (count > kMostLateOutputs) {
    return Error(WASINN_TOO_LARGE, "the model made {} outputs, more than {}", count, kMostLateOutputs);
  }
  const std::span<const wasinn_io* const> all(ios, count);
  for (const wasinn_io* io : all) {
    if (io->struct_size < sizeof(wasinn_io)) {
      return Error(WASINN_RUNTIME_ERROR, "an output has struct_size {}: expected {} or more", io->struct_size,
                   sizeof(wasinn_io));
    }
    if (io->rank <= WASINN_MAX_RANK) continue;
    return Error(WASINN_UNSUPPORTED_OPERATION, "output '{}' has {} dimensions, more than {}", io->name, io->rank,
                 WASINN_MAX_RANK);
  }
  late_ = std::make_shared<const LateOutputs>(all);
  return Status();
}

std::span<const wasinn_io* const> Context::outputs() const {
  return late_ != nullptr ? late_->ios() : graph_->outputs();
}

bool Context::IsWanted(uint32_t index) const {
  return wanted_.empty() || std::ranges::binary_search(wanted_, index, {}, &Destination::index);
}

Status Context::CheckOutput(uint32_t index) const {
  if (graph_->has_late_outputs() && late_ == nullptr) return NotComputed();
  const std::span<const wasinn_io* const> ios = outputs();
  if (index >= ios.size()) return NoSuchIndex("output", index, ios.size());
  const wasinn_io& io = *ios[index];
  if (IsUnservable(io)) return Unservable("output", io, table().name);
  if (!IsWanted(index)) {
    return Error(WASINN_INVALID_ARGUMENT, "output '{}' was not produced: set_output chose others", io.name);
  }
  return computed_ || (io.flags & WASINN_IO_ALWAYS) != 0 ? Status() : NotComputed();
}

Status Context::GetOutput(uint32_t index, const BufferOf& buffer_of, uint64_t& size) {
  if (Status status = CheckOutput(index); !status.ok()) return status;
  wasinn_tensor view{};
  const wasinn_tensor* seen = Seen(index);
  if (seen == nullptr) {
    if (Status status = View(index, view); !status.ok()) return status;
    seen = &view;
  }
  Result<std::span<uint8_t>> buffer = buffer_of(seen->dtype);
  if (!buffer) return std::move(buffer.error());
  return CopyOut(*outputs()[index], *seen, *buffer, size, counts_.out);
}

Status Context::WantOutput(const Destination& destination) {
  const size_t count = graph_->has_late_outputs() ? kMostLateOutputs : graph_->outputs().size();
  if (destination.index >= count) return NoSuchIndex("output", destination.index, count);
  const auto place = std::ranges::lower_bound(wanted_, destination.index, {}, &Destination::index);
  if (place != wanted_.end() && place->index == destination.index) {
    *place = destination;
    return Status();
  }
  std::vector<Destination> wanted = wanted_;
  wanted.insert(wanted.begin() + (place - wanted_.begin()), destination);
  return TellWanted(std::move(wanted));
}

Status Context::SelectOutputs(std::span<const uint32_t> given) {
  std::vector<Destination> wanted;
  for (uint32_t index : given) wanted.push_back({index, 0, 0, 0});
  std::ranges::sort(wanted, {}, &Destination::index);
  const auto [end, last] = std::ranges::unique(wanted, {}, &Destination::index);
  wanted.erase(end, last);
  return TellWanted(std::move(wanted));
}

// What the backend refuses is not kept.
Status Context::TellWanted(std::vector<Destination> wanted) {
  if (table().want_outputs != nullptr) {
    std::vector<uint32_t> indices;
    indices.reserve(wanted.size());
    for (const Destination& one : wanted) indices.push_back(one.index);
    Status status = graph_->backend().Take(table().want_outputs(context_, indices.data(), indices.size()));
    if (!status.ok()) return status;
  }
  wanted_ = std::move(wanted);
  views_known_ = false;
  computed_ = false;  // what an earlier compute produced is not what is wanted now
  return Status();
}

// Checked again, since a memory may be another one by now.
Status Context::WriteOutput(const Destination& destination, std::span<const uint8_t> bytes, const GuestMemory& memory,
                            CopyCount& count) {
  const auto size = static_cast<uint32_t>(std::min<size_t>(bytes.size(), UINT32_MAX));
  if (!memory.Store(destination.written, size)) {
    return OutOfRange("the place for an output's size", destination.written, sizeof(size));
  }
  const auto buffer = memory.Range(destination.buffer, destination.size);
  if (!buffer) return OutOfRange("an output buffer", destination.buffer, destination.size);
  if (bytes.size() > buffer->size()) {
    return Error(WASINN_TOO_LARGE, "output {} has {} bytes, its buffer {}", destination.index, bytes.size(),
                 buffer->size());
  }
  CopyTensorBytes(buffer->first(bytes.size()), bytes, count);
  return Status();
}

Status Context::WriteOutputs(const GuestMemory& memory) {
  Status first;
  for (const Destination& destination : wanted_) {
    if (destination.buffer == 0) continue;
    Status status = CheckOutput(destination.index);
    wasinn_tensor view{};
    if (status.ok()) status = View(destination.index, view);
    if (status.ok()) {
      status = WriteOutput(destination, {static_cast<const uint8_t*>(view.data), view.bytes}, memory, counts_.out);
    }
    if (!status.ok() && first.ok()) first = std::move(status);
  }
  return first;
}

Result<uint32_t> Context::FindOutput(std::string_view name) {
  if (!graph_->has_late_outputs()) return graph_->FindOutput(name);
  if (late_ == nullptr) return std::unexpected(NotComputed());
  return Graph::FindIn(outputs(), "output", name);
}

}  // namespace wasinn::core
