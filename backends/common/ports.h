// The inputs and outputs of a model, in backend.h's form.
#pragma once

#include <wasinn/backend.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wasinn::backend {

// One input or output. A backend adds its framework's identification.
struct Port {
  std::string name;
  std::string type_name;      // the framework's name of the type: "tensor(float)"
  std::vector<int64_t> dims;  // -1: unknown; empty if the rank is unknown, too
  wasinn_io io = {};          // points into the other members, so the port must not move

  bool servable() const { return (io.flags & WASINN_IO_UNSERVABLE) == 0; }
  // For an input: a compute needs it.
  bool required() const { return (io.flags & (WASINN_IO_UNSERVABLE | WASINN_IO_OPTIONAL)) == 0; }
  bool fixed_shape() const;
  // For an output: it is in the host's memory.
  bool bindable() const { return (io.flags & WASINN_IO_BINDABLE) != 0; }
  // For a fixed shape.
  uint64_t bytes() const;
};

// WASINN_ERROR_UNSUPPORTED_OPERATION for more than WASINN_MAX_RANK.
void CheckRank(const std::string& name, size_t rank);
// Checks that an input's dtype and bytes are those of the port, for these dims: WASINN_ERROR_INVALID_ARGUMENT names
// both. The core has checked it already.
void CheckTensor(const Port& port, const wasinn_tensor& tensor);

// Checks that an output can be bound to this memory: WASINN_ERROR_INVALID_ARGUMENT.
void CheckBindable(const Port& port, const wasinn_tensor& tensor);
[[noreturn]] void ThrowUnbound(const Port& output);

// The port of an index. It must be a tensor of numbers; `kind` is "input" or "output".
[[noreturn]] void ThrowNoPort(const char* kind, uint32_t index, size_t count);
[[noreturn]] void ThrowUnservable(const char* kind, const Port& port);
[[noreturn]] void ThrowUnset(const Port& input);
[[noreturn]] void ThrowTaken(std::string_view output);
// The output has another type than its port, which wasinn does not have, or too many dimensions.
[[noreturn]] void ThrowUnshowable(const Port& output, std::string_view type, size_t rank);
template <typename P>
const P& PortAt(const std::deque<P>& ports, const char* kind, uint32_t index) {
  if (index >= ports.size()) ThrowNoPort(kind, index, ports.size());
  if (!ports[index].servable()) ThrowUnservable(kind, ports[index]);
  return ports[index];
}

// For wasinn_backend::output.
wasinn_tensor ViewOf(uint32_t dtype, std::span<const int64_t> dims, const void* data);
// For wasinn_backend::take_output: `out` shows the tensor in `memory`, and owns that from now on.
template <typename Memory>
void GiveAway(std::unique_ptr<Memory> memory, wasinn_tensor* out) {
  out->owner = memory.release();
  out->release = [](void* owner) { delete static_cast<Memory*>(owner); };
}

// `P` is a Port.
template <typename P>
class Ports {
 public:
  Ports(const Ports&) = delete;
  Ports& operator=(const Ports&) = delete;

  const std::deque<P>& inputs() const { return inputs_; }
  const std::deque<P>& outputs() const { return outputs_; }
  const wasinn_info* info() const { return &info_; }
  void set_shares_slots() { info_.flags |= WASINN_GRAPH_SHARES_SLOTS; }
  void set_stateful(bool stateful) {
    if (stateful) info_.flags |= WASINN_GRAPH_STATEFUL;
  }
  // wasinn_info::memory, which outlives this.
  void set_memory(const char* name) { info_.memory = name; }
  // wasinn_info::max_parallel
  void set_max_parallel(uint32_t most) { info_.max_parallel = most; }

 protected:
  Ports() = default;
  ~Ports() = default;

  // Call it when all are there. `knows_outputs` false: they are only known after a run.
  void Publish(bool knows_outputs = true) {
    input_pointers_ = Pointers(&inputs_);
    output_pointers_ = Pointers(&outputs_);
    info_ = {.struct_size = sizeof(wasinn_info),
             .n_inputs = static_cast<uint32_t>(inputs_.size()),
             .n_outputs = knows_outputs ? static_cast<uint32_t>(outputs_.size()) : WASINN_COUNT_UNKNOWN,
             .inputs = input_pointers_.data(),
             .outputs = knows_outputs ? output_pointers_.data() : nullptr};
  }

  std::deque<P> inputs_;
  std::deque<P> outputs_;

 private:
  static std::vector<const wasinn_io*> Pointers(std::deque<P>* ports) {
    static constexpr int64_t kNoDims[] = {0};
    std::vector<const wasinn_io*> pointers;
    for (P& port : *ports) {
      port.io.struct_size = sizeof(wasinn_io);
      port.io.dims = port.dims.empty() ? kNoDims : port.dims.data();
      port.io.name = port.name.c_str();
      port.io.type_name = port.type_name.c_str();
      pointers.push_back(&port.io);
    }
    return pointers;
  }

  std::vector<const wasinn_io*> input_pointers_;
  std::vector<const wasinn_io*> output_pointers_;
  wasinn_info info_ = {};
};

}  // namespace wasinn::backend
