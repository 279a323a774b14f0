// Checks that hold for every inference request that wasinn-serve has read, over any protocol, and for the memory that
// is held meanwhile.
#pragma once

#include <wasinn/types.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "fuzz/expect.h"
#include "serve/oip/inference.h"
#include "serve/tenants/memory_budget.h"

namespace wasinn::fuzz {

// More than any request takes here.
inline constexpr uint64_t kPlenty = 1u << 30;

inline std::span<const uint8_t> AsBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

inline bool IsWithin(std::span<const uint8_t> inner, std::span<const uint8_t> outer) {
  return inner.empty() || (inner.data() >= outer.data() && inner.data() + inner.size() <= outer.data() + outer.size());
}

// Nothing of it is held any more.
inline bool IsFree(const std::shared_ptr<serve::MemoryBudget>& budget) {
  return serve::Charge(budget).Add(budget->most());
}

inline uint64_t OwnBytes(const serve::InferRequest& request) {
  uint64_t bytes = 0;
  for (const serve::InputTensor& input : request.inputs) bytes += input.own.size();
  return bytes;
}

inline void CheckInputs(const serve::InferRequest& request) {
  FUZZ_EXPECT(request.inputs.size() <= serve::kMaxTensors && request.outputs.size() <= serve::kMaxTensors);
  for (const serve::InputTensor& input : request.inputs) {
    FUZZ_EXPECT(input.datatype != nullptr && input.shape.size() <= WASINN_MAX_RANK);
    FUZZ_EXPECT(std::ranges::all_of(input.shape, [](int64_t dim) { return dim >= 0; }));
    FUZZ_EXPECT(input.own.empty() || input.lent.empty());
  }
}

inline bool IsSame(const serve::InputTensor& one, const serve::InputTensor& other) {
  return one.name == other.name && one.datatype == other.datatype && one.shape == other.shape &&
         std::ranges::equal(one.bytes(), other.bytes());
}

inline bool IsSame(const serve::InferRequest& one, const serve::InferRequest& other) {
  return one.model == other.model && one.version == other.version && one.outputs == other.outputs &&
         std::ranges::equal(one.inputs, other.inputs, [](const auto& a, const auto& b) { return IsSame(a, b); });
}

inline bool IsSame(const serve::Failure& one, const serve::Failure& other) {
  return one.code == other.code && one.message == other.message;
}

// The failure of a lack of memory.
inline bool IsNoMemory(const serve::Failure& failure) { return IsSame(failure, serve::NoMemory()); }

// An answer that returns each input as an output. It refers to them.
inline serve::InferResponse Echo(const serve::InferRequest& request) {
  serve::InferResponse response{request.model, request.version, {}};
  for (const serve::InputTensor& input : request.inputs) {
    response.outputs.push_back({input.name, input.datatype, input.shape, input.bytes(), nullptr});
  }
  return response;
}

}  // namespace wasinn::fuzz
