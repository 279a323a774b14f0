// A guest without an engine on the model "m", which has one input of f32.
#pragma once

#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>
#include <wasinn/wasinn.hpp>

#include "bench/direct_guest.h"

namespace wasinn::bench {

class OneInputGuest {
 public:
  OneInputGuest(const Host& host, const std::vector<uint32_t>& dims, int contexts = 1)
      : calls_(host, kData + Bytes(dims)) {
    *calls_.at(kName) = 'm';
    calls_.SetWords(kDims, dims);
    calls_.SetWords(kTensor, {kDims, static_cast<uint32_t>(dims.size()), kF32, kData, Bytes(dims)});
    calls_.Call("load_by_name", {kName, 1, kResult});
    const uint32_t graph = calls_.Word(kResult);
    for (int i = 0; i < contexts; ++i) {
      calls_.Call("init_execution_context", {graph, kResult});
      contexts_.push_back(calls_.Word(kResult));
      calls_.Call("set_input", {contexts_.back(), 0, kTensor});
    }
  }

  // On any thread; one for each context.
  void Compute(size_t context = 0) { calls_.Call("compute", {contexts_[context]}); }
  // The same for the first context, on a thread of the host.
  void Begin(void (*done)(void* user, uint32_t result), void* user) {
    calls_.Begin(begun_, "compute", contexts_[0], done, user);
  }

 private:
  static constexpr uint32_t kName = 8, kResult = 16, kTensor = 32, kDims = 64, kData = 1024;  // addresses
  // a number of wasi-nn.witx
  static constexpr uint8_t kF32 = 1;
  static uint32_t Bytes(const std::vector<uint32_t>& dims) {
    return std::accumulate(dims.begin(), dims.end(), static_cast<uint32_t>(sizeof(float)), std::multiplies<>());
  }

  DirectGuest calls_;
  DirectGuest::Begun begun_;
  std::vector<uint32_t> contexts_;
};

}  // namespace wasinn::bench
