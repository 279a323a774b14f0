// When a failed call is repeated.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wasinn::remote {

enum class Ending {
  kAnswered,   // with a result or an error of the server
  kNeverSent,  // no connection had the call, so nothing can have run
  kLost,       // the connection was lost, or the server reported itself unavailable: the model may have run
  kGivenUp,    // by this host: the server no longer answers its checks
};

// Decides what follows each try of one call.
class Retries {
 public:
  // `again`: how often a call that may have run is repeated, if the model is configured as idempotent.
  Retries(size_t servers, bool is_idempotent, uint32_t again) : servers_(servers), again_(is_idempotent ? again : 0) {}

  // Counts the try; returns whether to try again. A call that was never sent is tried once on each server.
  bool After(Ending ending);
  // Whether a call that may have run would be repeated.
  bool has_more() const { return again_ > 0; }

 private:
  const size_t servers_;
  uint32_t again_;
  size_t unsent_ = 0;
};

}  // namespace wasinn::remote
