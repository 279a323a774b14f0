// Pings on connections of gRPC, and for how long these are kept, by Triton's words.
#pragma once

#include <chrono>

namespace wasinn::serve {

struct GrpcKeepalive {
  using Ms = std::chrono::milliseconds;
  Ms time{60'000}, timeout{20'000};  // who does not answer a ping is gone
  // A client may ping every ten seconds, also one that waits for the next answer of a stream, or has no call: Triton's and gRPC's 300 s
  // without data end the connections of clients that are set as gRPC's guide on keepalive has it.
  Ms least_between_pings{9'500};
  // A request that stands still holds memory for as long as its connection is there; short of memory gRPC itself ends some.
  Ms age{1'800'000}, age_grace{1'800'000};
};

}  // namespace wasinn::serve
