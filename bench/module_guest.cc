#include "bench/module_guest.h"

#include <cstring>

#include "bench/guest_types.h"

namespace wasinn::bench {
namespace {

constexpr Dtype kWitxTypes[] = {WASINN_DTYPE_F16, WASINN_DTYPE_F32, WASINN_DTYPE_F64,
                                WASINN_DTYPE_U8,  WASINN_DTYPE_I32, WASINN_DTYPE_I64};

}  // namespace

Result<void> ModuleGuest::Prepare(const std::string& name, const std::vector<Tensor>& inputs,
                                  const std::vector<Tensor>& outputs) {
  std::vector<uint32_t> in, out;  // arrays of bench_input and bench_output
  for (const Tensor& input : inputs) {
    const auto [type, dims] = DescribeForGuest(input, kWitxTypes);
    const uint32_t dims_at = Put(dims.data(), dims.size() * sizeof(uint32_t));
    const uint32_t data_at = Put(input.data.bytes().data(), input.data.size());
    in.insert(in.end(), {input.index, dims_at, static_cast<uint32_t>(dims.size()), type, data_at,
                         static_cast<uint32_t>(input.data.size())});
  }
  for (const Tensor& output : outputs) {
    outputs_.push_back({Put(nullptr, output.data.size()), output.data.size()});
    out.insert(out.end(), {output.index, outputs_.back().address, static_cast<uint32_t>(output.data.size()), 0});
  }
  const uint32_t name_at = Put(name.data(), name.size());
  const uint32_t in_at = Put(in.data(), in.size() * sizeof(uint32_t));
  const uint32_t out_at = Put(out.data(), out.size() * sizeof(uint32_t));
  if (full_) return std::unexpected("the tensors are more than a guest can hold");
  const bool prepared =
      Call(kPrepare, {name_at, static_cast<uint32_t>(name.size()), in_at, static_cast<uint32_t>(inputs.size()), out_at,
                      static_cast<uint32_t>(outputs.size())});
  if (!prepared) return std::unexpected(error());
  return {};
}

// A result of 0 means success.
bool ModuleGuest::Call(Function function, std::initializer_list<uint32_t> args) {
  if (!Enter(function, args)) [[unlikely]]
    return false;
  if (result_ == 0) [[likely]]
    return true;
  error_ = fmt::format("the guest got errno {} from wasi-nn", result_);
  return false;
}

// Copies bytes, or zeros, into newly allocated memory of the guest.
uint32_t ModuleGuest::Put(const void* bytes, size_t size) {
  if (!Enter(kReserve, {static_cast<uint32_t>(size)})) result_ = 0;
  full_ = full_ || result_ == 0 || size > UINT32_MAX;
  if (!full_ && bytes != nullptr && size > 0) std::memcpy(Memory() + result_, bytes, size);
  return result_;
}

Result<Guest> NewBenchGuest(const Host& host) {
  GuestOptions options;
  options.name = "bench";
  wasinn::Result<Guest> guest = Guest::Create(host, options);
  if (!guest) return std::unexpected(guest.status().message());
  return std::move(*guest);
}

}  // namespace wasinn::bench
