// One call to whichever server of a model has time for it.
#ifndef WASINN_BACKENDS_REMOTE_CALL_H_
#define WASINN_BACKENDS_REMOTE_CALL_H_

#include <grpcpp/client_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "remote/retries.h"
#include "remote/servers.h"

namespace wasinn::remote {

using Deadline = std::optional<std::chrono::system_clock::time_point>;

struct Answered {
  grpc::Status status;
  grpc::ByteBuffer message;
  size_t server = 0;  // who answered, or was asked last
};

// It waits on no thread: gRPC's own tell how a try ended. Cancel comes from any thread.
class Call : public std::enable_shared_from_this<Call> {
 public:
  using Done = std::function<void(Answered)>;

  // `is_idempotent`: it may be made again though it may have run.
  Call(Servers& servers, std::string method, grpc::ByteBuffer request, Deadline deadline, bool is_idempotent);

  // Once. `done` comes once, perhaps before this returns.
  void Begin(Done done);
  void Cancel();
  // If this server has it, and it may be made again: another one may answer.
  void GiveUp(size_t server);

 private:
  void Try();
  void End(const grpc::Status& status);
  Ending EndingOf(const grpc::Status& status) const;

  Servers& servers_;
  const std::string method_;
  const grpc::ByteBuffer request_;
  const Deadline deadline_;
  Done done_;
  std::vector<bool> tried_;

  std::mutex mutex_;  // of what follows
  Retries retries_;
  std::shared_ptr<grpc::ClientContext> context_;
  grpc::ByteBuffer answer_;
  size_t server_ = 0;
  bool is_cancelled_ = false, is_given_up_ = false;
};

// Begins it, and waits for its end on this thread.
Answered Wait(Call& call);

}  // namespace wasinn::remote

#endif  // WASINN_BACKENDS_REMOTE_CALL_H_
