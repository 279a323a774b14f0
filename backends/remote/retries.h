// When a call that failed is made again.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wasinn::remote {

enum class Ending {
  kAnswered,   // by a result or an error of the server
  kNeverSent,  // no connection had it, so nothing can have run
  kLost,       // the connection ended, or the server said that it is unavailable: the model may have run
  kGivenUp,    // by us: the server does not answer its checks any more
};

// What is done after each try of one call.
class Retries {
 public:
  // `again`: how often a call is made again that may have run. Only where the model is said to be idempotent.
  Retries(size_t servers, bool is_idempotent, uint32_t again) : servers_(servers), again_(is_idempotent ? again : 0) {}

  // Counts the try. A call that was never sent goes to each server once.
  bool After(Ending ending);
  // Whether one that may have run would be made again.
  bool has_more() const { return again_ > 0; }

 private:
  const size_t servers_;
  uint32_t again_;
  size_t unsent_ = 0;
};

}  // namespace wasinn::remote
