#include "abi/witx/witx.h"

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "abi/guest_memory.h"
#include "abi/profiles.h"
#include "core/process.h"

namespace wasinn::abi {
namespace {

using core::Error;
using core::Process;
using core::Result;
using core::Status;

// What each function works on. Arguments are i32; the witx interface has no other.
struct Invocation {
  Process& process;
  GuestMemory memory;
  const uint64_t* args;

  uint32_t arg(size_t index) const { return static_cast<uint32_t>(args[index]); }
};

Status OutOfRange(const char* what, uint32_t address, uint64_t size) {
  return Error(WASINN_INVALID_ARGUMENT, "{} at {:#x}, {} bytes, is outside of the guest's memory", what, address, size);
}

// The layout of a graph_builder, a list of bytes, in guest memory.
struct GuestList {
  uint32_t address;
  uint32_t size;
};
static_assert(sizeof(GuestList) == 8);

// The layout of a tensor in guest memory.
struct GuestTensor {
  uint32_t dims_address;
  uint32_t dims_count;
  uint8_t type;
  uint8_t padding[3];
  uint32_t data_address;
  uint32_t data_size;
};
static_assert(sizeof(GuestTensor) == 20);

Result<std::vector<std::span<const uint8_t>>> DecodeBuilders(const Invocation& call, uint32_t address, uint32_t count) {
  const uint32_t limit = call.process.limits().max_builders;
  if (count > limit) return core::Fail(WASINN_TOO_LARGE, "a model of {} parts is over the limit of {}", count, limit);
  std::vector<std::span<const uint8_t>> parts;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t element = uint64_t{address} + uint64_t{i} * sizeof(GuestList);
    const auto list = element > UINT32_MAX ? std::nullopt : call.memory.Load<GuestList>(static_cast<uint32_t>(element));
    if (!list) return std::unexpected(OutOfRange("the array of graph builders", address, count * sizeof(GuestList)));
    const auto bytes = call.memory.Range(list->address, list->size);
    if (!bytes) return std::unexpected(OutOfRange("a graph builder", list->address, list->size));
    parts.emplace_back(*bytes);
  }
  return parts;
}

// Reads the descriptor once; whatever is checked later is this copy.
Status DecodeTensor(const Invocation& call, uint32_t address, core::TensorDesc& tensor,
                    std::span<const uint8_t>& data) {
  const auto given = call.memory.Load<GuestTensor>(address);
  if (!given) return OutOfRange("a tensor", address, sizeof(GuestTensor));
  const auto dtype = kWitx.dtype(given->type);
  if (!dtype) return Error(WASINN_INVALID_ARGUMENT, "{} is not a tensor type of wasi-nn", given->type);
  if (given->dims_count > WASINN_MAX_RANK) {
    return Error(WASINN_INVALID_ARGUMENT, "a tensor of {} dimensions is over the limit of {}", given->dims_count,
                 WASINN_MAX_RANK);
  }
  const auto dims = call.memory.Range(given->dims_address, given->dims_count, sizeof(uint32_t));
  if (!dims) {
    return OutOfRange("the dimensions of a tensor", given->dims_address,
                      uint64_t{given->dims_count} * sizeof(uint32_t));
  }
  const auto bytes = call.memory.Range(given->data_address, given->data_size);
  if (!bytes) return OutOfRange("the data of a tensor", given->data_address, given->data_size);
  tensor.dtype = *dtype;
  tensor.rank = given->dims_count;
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    uint32_t dim;
    std::memcpy(&dim, dims->data() + size_t{i} * sizeof(dim), sizeof(dim));
    tensor.dims[i] = dim;
  }
  data = *bytes;
  return Status();
}

// Writes a result. The address was checked before the work was done, so that nothing is made that the guest cannot
// learn of.
Status StoreResult(const Invocation& call, uint32_t address, uint32_t value) {
  if (call.memory.Store(address, value)) return Status();
  return OutOfRange("the place for the result", address, sizeof(value));
}
Status CheckResult(const Invocation& call, uint32_t address) {
  if (call.memory.Range(address, sizeof(uint32_t))) return Status();
  return OutOfRange("the place for the result", address, sizeof(uint32_t));
}

Status StoreHandle(const Invocation& call, uint32_t address, Result<uint32_t> handle) {
  if (!handle) return std::move(handle.error());
  return StoreResult(call, address, *handle);
}

// load(builders_ptr, builders_len, encoding, target, out_graph)
Status Load(const Invocation& call) {
  if (Status status = CheckResult(call, call.arg(4)); !status.ok()) return status;
  const auto encoding = kWitx.encoding(call.arg(2));
  if (!encoding) return Error(WASINN_INVALID_ENCODING, "{} is not an encoding of wasi-nn", call.arg(2));
  const auto target = kWitx.target(call.arg(3));
  if (!target) return Error(WASINN_INVALID_ARGUMENT, "{} is not an execution target of wasi-nn", call.arg(3));
  auto parts = DecodeBuilders(call, call.arg(0), call.arg(1));
  if (!parts) return std::move(parts.error());
  return StoreHandle(call, call.arg(4), call.process.Load(*parts, *encoding, *target));
}

// load_by_name(name_ptr, name_len, out_graph)
Status LoadByName(const Invocation& call) {
  if (Status status = CheckResult(call, call.arg(2)); !status.ok()) return status;
  const auto name = call.memory.Range(call.arg(0), call.arg(1));
  if (!name) return OutOfRange("a model's name", call.arg(0), call.arg(1));
  if (name->size() > call.process.limits().max_name_bytes) {
    return Error(WASINN_TOO_LARGE, "a model's name of {} bytes is longer than the limit of {}", name->size(),
                 call.process.limits().max_name_bytes);
  }
  // A copy, since it is looked up and quoted while other threads of the guest may run.
  const std::string copy(reinterpret_cast<const char*>(name->data()), name->size());
  return StoreHandle(call, call.arg(2), call.process.LoadByName(copy));
}

// init_execution_context(graph, out_context)
Status InitExecutionContext(const Invocation& call) {
  if (Status status = CheckResult(call, call.arg(1)); !status.ok()) return status;
  return StoreHandle(call, call.arg(1), call.process.InitContext(call.arg(0)));
}

// set_input(context, index, tensor_ptr)
Status SetInput(const Invocation& call) {
  core::TensorDesc tensor;
  std::span<const uint8_t> data;
  if (Status status = DecodeTensor(call, call.arg(2), tensor, data); !status.ok()) return status;
  return call.process.SetInput(call.arg(0), call.arg(1), tensor, data);
}

// compute(context)
Status Compute(const Invocation& call) { return call.process.Compute(call.arg(0)); }

// get_output(context, index, buffer_ptr, buffer_max, out_written). A buffer that is too small gets too_large and the
// needed size.
Status GetOutput(const Invocation& call) {
  if (Status status = CheckResult(call, call.arg(4)); !status.ok()) return status;
  const auto buffer = call.memory.Range(call.arg(2), call.arg(3));
  if (!buffer) return OutOfRange("an output buffer", call.arg(2), call.arg(3));
  uint64_t size = 0;
  Status status = call.process.GetOutput(call.arg(0), call.arg(1), *buffer, size);
  if (!status.ok() && status.code() != WASINN_TOO_LARGE) return status;
  const auto written = static_cast<uint32_t>(std::min<uint64_t>(size, UINT32_MAX));
  if (Status stored = StoreResult(call, call.arg(4), written); !stored.ok()) return stored;
  return status;
}

using Function = Status (*)(const Invocation&);

Status Guarded(Function function, const Invocation& call) {
  try {
    return function(call);
  } catch (const std::bad_alloc&) {
    return Status(WASINN_RUNTIME_ERROR, "the host is out of memory");
  } catch (const std::exception& error) {
    return Status(WASINN_RUNTIME_ERROR, error.what());
  }
}

// Every function goes through here: presence in the process, memory, errors, errno. kAnswer is a code that is no
// failure of the guest, so that it does not fill the log: asking get_output for the size with too small a buffer.
template <Function kFunction, size_t kIndex, wasinn_code kAnswer = WASINN_OK>
uint32_t Call(wasinn_process* process, const wasinn_memory* memory, const uint64_t* args);

constexpr wasinn_function Row(const char* name, const char* params, decltype(wasinn_function::call) call) {
  return {"wasi_ephemeral_nn", name, params, "i", call};
}

constexpr wasinn_function kWitxFunctions[] = {Row("load", "iiiii", Call<Load, 0>),
                                              Row("load_by_name", "iii", Call<LoadByName, 1>),
                                              Row("init_execution_context", "ii", Call<InitExecutionContext, 2>),
                                              Row("set_input", "iii", Call<SetInput, 3>),
                                              Row("compute", "i", Call<Compute, 4>),
                                              Row("get_output", "iiiii", Call<GetOutput, 5, WASINN_TOO_LARGE>)};

template <Function kFunction, size_t kIndex, wasinn_code kAnswer>
uint32_t Call(wasinn_process* process, const wasinn_memory* memory, const uint64_t* args) {
  if (process == nullptr) return kWitx.error(WASINN_RUNTIME_ERROR);
  const Process::Call presence(*process);
  if (!presence) return kWitx.error(WASINN_RUNTIME_ERROR);
  const Invocation call{*process, GuestMemory(*memory), args};
  try {
    const Status status = call.memory.exists() ? Guarded(kFunction, call)
                                               : Status(WASINN_MISSING_MEMORY, "the guest module exports no memory");
    if (!status.ok() && status.code() != kAnswer) process->Report(kWitxFunctions[kIndex].name, status);
    return kWitx.error(status.code());
  } catch (...) {  // no memory even for the message
    return kWitx.error(WASINN_RUNTIME_ERROR);
  }
}

}  // namespace

std::span<const wasinn_function> WitxFunctions() { return kWitxFunctions; }

}  // namespace wasinn::abi
