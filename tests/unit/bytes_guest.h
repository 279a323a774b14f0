// A guest that computes on bytes, as a core module and as a component, for tests.
#pragma once

#include "support/echo.h"
#include "support/test.h"
#include "unit/wit_guest.h"

namespace wasinn::testing {

struct BytesGuest : EchoProgram {
  explicit BytesGuest(wasinn_host* host) : BytesGuest(NewGuest(host)) {}
  explicit BytesGuest(GuestPtr its) : EchoProgram(std::move(its), 1 << 16) {}

  using FakeGuest::Compute;
  uint32_t Set(uint32_t context, const std::vector<uint8_t>& bytes, uint32_t index = 0) {
    return FakeGuest::Set(context, bytes, index);
  }
  uint32_t Compute(uint32_t context, const std::vector<uint8_t>& bytes) {
    EXPECT_EQ(Set(context, bytes), kSuccess);
    return Compute(context);
  }
  std::vector<uint8_t> Output(uint32_t context) { return FakeGuest::Output<uint8_t>(context); }
  uint64_t held() const { return Stats().tensor_bytes; }

  WitGuest wit{guest.get()};
};

}  // namespace wasinn::testing
