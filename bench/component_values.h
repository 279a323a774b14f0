// The arguments of bench/guests/bench_component.wat, as values of the C API.
#pragma once

#include <wasmtime.h>

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/guest_types.h"
#include "bench/tensors.h"

namespace wasinn::bench {

using Value = wasmtime_component_val_t;

inline Value OfU8(uint8_t number) { return {WASMTIME_COMPONENT_U8, {.u8 = number}}; }
inline Value OfU32(uint32_t number) { return {WASMTIME_COMPONENT_U32, {.u32 = number}}; }
// Borrowed.
inline Value OfString(std::string& text) { return {WASMTIME_COMPONENT_STRING, {.string = {text.size(), text.data()}}}; }
inline Value OfList(std::vector<Value>& items) {
  return {WASMTIME_COMPONENT_LIST, {.list = {items.size(), items.data()}}};
}
inline Value OfTuple(std::vector<Value>& items) {
  return {WASMTIME_COMPONENT_TUPLE, {.tuple = {items.size(), items.data()}}};
}

inline constexpr Dtype kWitTypes[] = {WASINN_DTYPE_F16, WASINN_DTYPE_F32, WASINN_DTYPE_F64, WASINN_DTYPE_BF16,
                                      WASINN_DTYPE_U8,  WASINN_DTYPE_I32, WASINN_DTYPE_I64};

// The arguments of `prepare`, which point into each other.
class Arguments {
 public:
  Arguments(std::string model, const std::vector<Tensor>& inputs) : model_(std::move(model)) {
    std::vector<Value>& list = NewValues();
    for (const Tensor& input : inputs) list.push_back(OfInput(input));
    values_[0] = OfString(model_);
    values_[1] = OfList(list);
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  std::span<const Value> values() const { return values_; }

 private:
  std::vector<Value>& NewValues() { return lists_.emplace_back(); }

  Value OfInput(const Tensor& input) {
    const GuestType type = DescribeForGuest(input, kWitTypes);
    std::vector<Value>& dims = NewValues();
    for (const uint32_t dim : type.dims) dims.push_back(OfU32(dim));
    std::vector<Value>& data = NewValues();
    data.reserve(input.data.size());
    for (const uint8_t byte : input.data.bytes()) data.push_back(OfU8(byte));
    std::vector<Value>& tuple = NewValues();
    tuple = {OfString(names_.emplace_back(input.name)), OfList(dims), OfU8(type.number), OfList(data)};
    return OfTuple(tuple);
  }

  std::string model_;
  std::deque<std::string> names_;
  std::deque<std::vector<Value>> lists_;
  Value values_[2];
};

}  // namespace wasinn::bench
