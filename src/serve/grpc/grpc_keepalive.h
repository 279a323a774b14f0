// Pings on connections of gRPC, and how long these are kept, in Triton's words.
#pragma once

#include <chrono>

namespace wasinn::serve {

struct GrpcKeepalive {
  using Ms = std::chrono::milliseconds;
  Ms time{60'000}, timeout{20'000};  // a client that does not answer a ping is gone
  // A client may ping every ten seconds, even if it waits for the next answer of a stream, or has no call: Triton's and
  // gRPC's limit of 300 s without data would end connections of clients that follow gRPC's guide on keepalive.
  Ms least_between_pings{9'500};
  // A stalled request holds memory as long as its connection exists; if memory is short, gRPC itself ends some.
  Ms age{1'800'000}, age_grace{1'800'000};
};

}  // namespace wasinn::serve
