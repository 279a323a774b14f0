// A guest that computes on bytes, as a core module and as a component, for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "support/echo.h"
#include "unit/wit_guest.h"

namespace wasinn::testing {

struct BytesGuest {
  explicit BytesGuest(wasinn_host* host) : BytesGuest(NewGuest(host)) {}
  explicit BytesGuest(GuestPtr given) : guest(std::move(given)), calls(guest.get(), 1 << 16), wit(guest.get()) {}

  uint32_t NewContext(std::string_view name) {
    uint32_t graph = 0, context = 0;
    EXPECT_EQ(calls.LoadByName(name, graph), kSuccess);
    EXPECT_EQ(calls.InitContext(graph, context), kSuccess);
    return context;
  }
  uint32_t Set(uint32_t context, const std::vector<uint8_t>& bytes) {
    return calls.SetInput(context, 0, {static_cast<uint32_t>(bytes.size())}, kU8, bytes);
  }
  uint32_t Compute(uint32_t context) { return calls.Call("compute", {context}); }
  uint32_t Compute(uint32_t context, const std::vector<uint8_t>& bytes) {
    EXPECT_EQ(Set(context, bytes), kSuccess);
    return Compute(context);
  }
  std::vector<uint8_t> Output(uint32_t context) {
    constexpr uint32_t kRoom = 1000;
    if (buffer_ == 0) buffer_ = calls.Reserve(kRoom + 4);
    EXPECT_EQ(calls.Call("get_output", {context, 0, buffer_, kRoom, buffer_ + kRoom}), kSuccess);
    std::vector<uint8_t> bytes;
    for (uint32_t i = 0; i < calls.Read<uint32_t>(buffer_ + kRoom); ++i) {
      bytes.push_back(calls.Read<uint8_t>(buffer_ + i));
    }
    return bytes;
  }
  uint64_t held() const { return wit.stats().tensor_bytes; }

  GuestPtr guest;
  FakeGuest calls;
  WitGuest wit;

 private:
  uint32_t buffer_ = 0;
};

}  // namespace wasinn::testing
