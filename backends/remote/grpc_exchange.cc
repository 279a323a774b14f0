#include "remote/grpc_exchange.h"

#include <grpcpp/completion_queue.h>

#include <string>
#include <utility>

namespace wasinn::remote {

namespace {

// gRPC's message if a server's answers take more memory than allowed.
constexpr char kOutOfQuota[] = "Buffers full";
constexpr char kTooLarge[] = "the server's answers together are larger than max_message_bytes allows";

// gRPC's message if a server closes a connection, which may be its way to refuse one.
constexpr char kClosed[] = "Socket closed";

const char* ClosedHint(const GrpcServer& server) {
  return server.is_secure ? ": it may want a certificate (keys 'cert' and 'key')" : ": it may want TLS (grpcs://)";
}

// Whether the call was on a connection. Until then gRPC's peer is the channel's target: "dns:///…".
bool WasSent(const grpc::ClientContext& context) {
  const std::string peer = context.peer();
  return peer.starts_with("ipv4:") || peer.starts_with("ipv6:") || peer.starts_with("unix:");
}

}  // namespace

GrpcExchange::GrpcExchange(GrpcServer& server, const Request& request, const Headers& headers, Deadline deadline)
    : server_(server), request_(request) {
  if (deadline) context_.set_deadline(*deadline);
  for (const auto& [name, value] : headers) context_.AddMetadata(name, value);
}

void GrpcExchange::Start(Done done) {
  done_ = std::move(done);
  self_ = shared_from_this();
  server_.stub.UnaryCall(&context_, request_.path, {}, request_.body.operator->(), &answer_,
                         [this](const grpc::Status& status) { End(status); });
}

Reply GrpcExchange::Wait() {
  grpc::CompletionQueue queue;
  const auto reader = server_.stub.PrepareUnaryCall(&context_, request_.path, request_.body, &queue);
  grpc::Status status;
  reader->StartCall();
  reader->Finish(&answer_, &status, this);
  void* tag = nullptr;
  bool is_ok = false;  // always true at a call's end
  queue.Next(&tag, &is_ok);
  return TakeReply(status);
}

// The context holds the channel. If it were the last owner, gRPC would wait here for this thread of its own, and abort:
// the caller holds the channel longer than the exchange.
void GrpcExchange::End(const grpc::Status& status) {
  Reply reply = TakeReply(status);
  const Done done = std::move(done_);
  std::exchange(self_, nullptr).reset();  // perhaps the last reference
  done(std::move(reply));
}

Reply GrpcExchange::TakeReply(const grpc::Status& status) {
  Reply reply{.status = status, .message = {}};
  // Other guests' answers may have used the memory: that says nothing about the server or this call, so retry.
  if (status.error_message() == kOutOfQuota) {
    reply.status = {grpc::UNAVAILABLE, kTooLarge};
    reply.was_answer = true;
  }
  if (status.ok()) {
    if (!server_.has_answered) server_.has_answered = true;  // all threads share this cache line
  } else if (status.error_message().ends_with(kClosed) && !server_.has_answered) {
    reply.status = {status.error_code(), status.error_message() + ClosedHint(server_)};
  }
  reply.message.buffer().Swap(&answer_);
  reply.was_sent = status.error_code() != grpc::UNAVAILABLE || WasSent(context_);
  return reply;
}

}  // namespace wasinn::remote
