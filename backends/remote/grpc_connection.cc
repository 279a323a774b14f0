// Servers that speak gRPC.
#include <grpc/compression.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <string>
#include <utility>

#include "remote/config.h"
#include "remote/exchange.h"

namespace wasinn::remote {

namespace {

// The next connection after a failure is tried soon: a server that comes back should be used at once.
constexpr int kFirstBackoffMs = 100, kMaxBackoffMs = 2000;

// gRPC checks a message's length only when all of it is there, and a server may send 4 GiB. So all answers of a server
// share a limit of many maximum-sized answers. Beyond it, gRPC ends calls.
constexpr size_t kMaxAnswers = 16, kLeastMemory = size_t{64} << 20;

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& endpoint, const ConnectionConfig& config) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(static_cast<int>(config.max_message_bytes));
  arguments.SetMaxSendMessageSize(static_cast<int>(config.max_message_bytes));
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kFirstBackoffMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMaxBackoffMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, static_cast<int>(config.connect_timeout.count()));
  grpc::ResourceQuota memory;
  memory.Resize(std::max(kMaxAnswers * config.max_message_bytes, kLeastMemory));
  arguments.SetResourceQuota(memory);
  // A small compressed message may expand to any size, and gRPC checks its limit only after that.
  arguments.SetInt(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  arguments.SetInt(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET, 1 << GRPC_COMPRESS_NONE);
  // Only the host's configuration decides where calls go and how often: no proxy variable, no settings from DNS, and no
  // retries except gRPC's for calls that never left the machine.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  if (!config.server_name.empty()) arguments.SetSslTargetNameOverride(config.server_name);
  const auto credentials = config.is_secure ? grpc::SslCredentials({config.ca, config.key, config.certificate})
                                            : grpc::InsecureChannelCredentials();
  return grpc::CreateCustomChannel("dns:///" + endpoint, credentials, arguments);
}

// State that the calls to one server share.
struct GrpcServer {
  grpc::GenericStub stub;
  const bool is_secure;
  // If no call was ever answered, the server may not be what the address says.
  std::atomic<bool> has_answered = false;
};

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

class GrpcExchange final : public Exchange, public std::enable_shared_from_this<GrpcExchange> {
 public:
  // `server` outlives this object, and `request` outlives the call.
  GrpcExchange(GrpcServer& server, const Request& request, const Headers& headers, Deadline deadline)
      : server_(server), request_(request) {
    if (deadline) context_.set_deadline(*deadline);
    for (const auto& [name, value] : headers) context_.AddMetadata(name, value);
  }

  // Runs on gRPC's threads.
  void Start(Done done) override {
    done_ = std::move(done);
    self_ = shared_from_this();
    server_.stub.UnaryCall(&context_, request_.path, {}, request_.body.operator->(), &answer_,
                           [this](const grpc::Status& status) { End(status); });
  }
  // gRPC reads the connection on this thread, which saves a wake-up.
  Reply Wait() override {
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
  // A cancel before the start is not lost: the context keeps it.
  void Cancel() override { context_.TryCancel(); }

 private:
  // The context holds the channel. If it were the last owner, gRPC would wait here for this thread of its own, and abort:
  // the caller holds the channel longer than the exchange.
  void End(const grpc::Status& status) {
    Reply reply = TakeReply(status);
    const Done done = std::move(done_);
    std::exchange(self_, nullptr).reset();  // perhaps the last reference
    done(std::move(reply));
  }
  Reply TakeReply(const grpc::Status& status) {
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

  GrpcServer& server_;
  const Request& request_;
  grpc::ClientContext context_;
  grpc::ByteBuffer answer_;
  Done done_;
  std::shared_ptr<GrpcExchange> self_;  // while gRPC uses it
};

class GrpcConnection final : public Connection {
 public:
  GrpcConnection(const std::string& endpoint, const ConnectionConfig& config)
      : Connection(endpoint),
        server_{.stub = grpc::GenericStub(MakeChannel(endpoint, config)), .is_secure = config.is_secure} {}

  std::shared_ptr<Exchange> NewExchange(const Request& request, const Headers& headers, Deadline deadline) override {
    return std::make_shared<GrpcExchange>(server_, request, headers, deadline);
  }

 private:
  GrpcServer server_;
};

}  // namespace

std::shared_ptr<Connection> MakeGrpcConnection(const std::string& endpoint, const ConnectionConfig& config) {
  return std::make_shared<GrpcConnection>(endpoint, config);
}

}  // namespace wasinn::remote
