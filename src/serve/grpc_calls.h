// Calls that are under way over gRPC, and until when each of them waits for its client.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <boost/intrusive/list.hpp>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "serve/cancellation.h"
#include "serve/pace.h"

namespace wasinn::serve {

class GrpcCall;

// Any thread.
class GrpcCalls {
 public:
  struct Limits {
    size_t most = 16384;
    std::chrono::milliseconds slow{30'000};   // for a response, and as much more as its bytes may take (pace.h)
    std::chrono::milliseconds idle{600'000};  // until the next request of a stream has come
  };
  explicit GrpcCalls(const Limits& limits) : limits_(limits) {}

  // Cancels those whose clients take too long. To be called now and then.
  void Sweep();

 private:
  friend class GrpcCall;

  const Limits limits_;
  std::mutex mutex_;  // of what follows
  boost::intrusive::list<GrpcCall, boost::intrusive::base_hook<boost::intrusive::list_base_hook<>>> calls_;
};

// What reactors of calls have in common. Both outlive it.
class GrpcCall : public boost::intrusive::list_base_hook<> {
 public:
  // Whether there are more than may be: then nothing is done but to say so.
  bool is_one_too_many() const { return is_one_too_many_; }
  Cancellation& cancellation() { return cancellation_; }

 protected:
  GrpcCall(GrpcCalls& calls, grpc::CallbackServerContext& context);
  ~GrpcCall();

  // What is waited for from here on.
  void ExpectRequest() { Until(Pace::Clock::now() + calls_.limits_.idle); }
  void ExpectWrite(uint64_t bytes);
  void ExpectNothing() { Until(Pace::Clock::time_point::max()); }

 private:
  friend class GrpcCalls;
  void Until(Pace::Clock::time_point deadline) {
    deadline_.store(deadline.time_since_epoch().count(), std::memory_order_relaxed);
  }

  GrpcCalls& calls_;
  grpc::CallbackServerContext& context_;
  std::atomic<Pace::Clock::rep> deadline_{Pace::Clock::time_point::max().time_since_epoch().count()};
  bool is_one_too_many_ = false;
  Cancellation cancellation_;
};

}  // namespace wasinn::serve
