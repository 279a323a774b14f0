#include "serve/grpc/grpc_server.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/support/log.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/server_interceptor.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "serve/grpc/grpc_service.h"

namespace wasinn::serve {

namespace {

// For one connection: the limit of calls, and how long it is kept without any.
constexpr int kMaxStreams = 128;
constexpr int kIdleMs = 300'000;
constexpr int kHandshakeMs = 20'000;

int ToMs(std::chrono::milliseconds time) { return static_cast<int>(std::min<int64_t>(time.count(), INT_MAX)); }

// If there seem to be too many connections, they are counted, which takes a millisecond, but not more often than this.
constexpr std::chrono::milliseconds kCountAgain{100};

// The number that gRPC 1.51 starts for callbacks (CallbackAlternativeCQ).
size_t GrpcThreads() { return std::clamp<long>(::sysconf(_SC_NPROCESSORS_CONF) / 2, 2, 16); }

ino_t FileOf(int descriptor) {
  struct stat file = {};
  return ::fstat(descriptor, &file) == 0 ? file.st_ino : 0;
}

// TLS with certificates that may change while it serves. gRPC's C++ credentials for that read the files repeatedly by
// themselves, and report no errors. Those of its C API ask at each connection.
class Credentials final : public grpc::ServerCredentials {
 public:
  explicit Credentials(std::shared_ptr<Tls> tls) : tls_(std::move(tls)) {
    const auto request_type = tls_->asks_clients() ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                                                   : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE;
    credentials_ = grpc_ssl_server_credentials_create_with_options(
        grpc_ssl_server_credentials_create_options_using_config_fetcher(request_type, Fetch, this));
  }
  ~Credentials() override { grpc_server_credentials_release(credentials_); }
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;

  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }

  // gRPC calls it for one connection at a time.
  static grpc_ssl_certificate_config_reload_status Fetch(void* self, grpc_ssl_server_certificate_config** made) {
    auto& credentials = *static_cast<Credentials*>(self);
    std::shared_ptr<Certificates> current = credentials.tls_->current();
    if (current == credentials.used_) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    const TlsFiles& pem = current->pem;
    const grpc_ssl_pem_key_cert_pair pair = {pem.key.c_str(), pem.certificate.c_str()};
    // gRPC 1.51 ends the program if there are none, although no client needs a certificate that they signed.
    const std::string& authorities = pem.client_ca.empty() ? pem.certificate : pem.client_ca;
    *made = grpc_ssl_server_certificate_config_create(authorities.c_str(), &pair, 1);
    credentials.used_ = std::move(current);
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  const std::shared_ptr<Tls> tls_;
  std::shared_ptr<Certificates> used_;  // those that gRPC uses
  grpc_server_credentials* credentials_ = nullptr;
};

}  // namespace

// Clients that watch gRPC's own health service (Watch). gRPC only ends such a stream with the server's last call.
// Thread-safe. It outlives the server.
class GrpcWatches {
 public:
  // For grpc::ServerBuilder, which reports each stream to it.
  std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> NewFactory() {
    return std::make_unique<Factory>(*this);
  }

  // From here on Sweep ends them, even unread: clients that do not read would hold up the server's end.
  void Drain() { is_draining_.store(true, std::memory_order_release); }
  void Sweep() {
    if (!is_draining_.load(std::memory_order_acquire)) return;
    const std::lock_guard lock(mutex_);
    for (ServerRpcInfo* const watch : watches_)
      watch->server_context()->TryCancel();  // it notifies gRPC's threads: this one has the lock
  }

 private:
  using ServerRpcInfo = grpc::experimental::ServerRpcInfo;
  using Interceptor = grpc::experimental::Interceptor;

  class Watch : public Interceptor {
   public:
    Watch(GrpcWatches& all, ServerRpcInfo* of) : all_(all), of_(of) {}
    ~Watch() override { Leave(); }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    // gRPC creates this before it can be cancelled, and keeps it longer: it can be cancelled after its first step.
    void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
      using enum grpc::experimental::InterceptionHookPoints;
      if (methods->QueryInterceptionHookPoint(POST_RECV_INITIAL_METADATA)) Join();
      if (methods->QueryInterceptionHookPoint(POST_RECV_CLOSE)) Leave();
      methods->Proceed();
    }

   private:
    void Join() {
      const std::lock_guard lock(all_.mutex_);
      all_.watches_.insert(of_);
    }
    void Leave() {
      const std::lock_guard lock(all_.mutex_);
      all_.watches_.erase(of_);
    }

    GrpcWatches& all_;
    ServerRpcInfo* const of_;
  };

  class Factory : public grpc::experimental::ServerInterceptorFactoryInterface {
   public:
    explicit Factory(GrpcWatches& all) : all_(all) {}
    Interceptor* CreateServerInterceptor(ServerRpcInfo* info) override {
      const char* const method = info->method();
      const bool is_watch = method != nullptr && std::string_view(method) == "/grpc.health.v1.Health/Watch";
      return is_watch ? new Watch(all_, info) : nullptr;
    }

   private:
    GrpcWatches& all_;
  };

  std::atomic<bool> is_draining_{false};
  std::mutex mutex_;  // guards the members below
  std::set<ServerRpcInfo*> watches_;
};

struct GrpcServer::Running {
  std::shared_ptr<grpc::ServerCredentials> credentials;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor;
  std::unique_ptr<grpc::Server> server;
};

GrpcServer::GrpcServer(const Gate& gate, const Statistics& statistics, TextMetrics& metrics, Workers& workers,
                       Workers& loads, GrpcOptions options)
    : options_(std::move(options)),
      calls_(options_.calls, options_.access_log, options_.requests),
      quick_(GrpcThreads(), workers),
      watches_(std::make_unique<GrpcWatches>()),
      service_(NewGrpcService(
          {gate, statistics, metrics, workers, loads, quick_, calls_, is_draining_, options_.max_message_bytes})),
      reflection_(NewGrpcReflection(gate, calls_)) {
  // Only clients' errors, with which they could fill a log.
  google::protobuf::SetLogHandler(nullptr);
  if (std::getenv("GRPC_VERBOSITY") == nullptr) gpr_set_log_function([](gpr_log_func_args*) {});
}
GrpcServer::~GrpcServer() = default;

void GrpcServer::Sweep() {
  calls_.Sweep();
  quick_.Sweep();
  watches_->Sweep();
}

void GrpcServer::Start() {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  grpc::ResourceQuota quota("serve");
  quota.Resize(options_.budget->most());
  builder.SetResourceQuota(quota);
  builder.SetMaxReceiveMessageSize(static_cast<int>(std::min<uint64_t>(options_.max_message_bytes, INT_MAX)));
  builder.SetMaxSendMessageSize(-1);
  const int handshake_ms = std::min(kHandshakeMs, ToMs(options_.calls.slow));
  const GrpcKeepalive& keepalive = options_.keepalive;
  // A small compressed message may expand to any size, after gRPC's check: the server expands it (InflateMessage).
  for (const auto& [argument, value] :
       {std::pair{GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0},
        {GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxStreams},
        {GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleMs},
        {GRPC_ARG_MAX_CONNECTION_AGE_MS, ToMs(keepalive.age)},
        {GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, ToMs(keepalive.age_grace)},
        {GRPC_ARG_KEEPALIVE_TIME_MS, ToMs(keepalive.time)},
        {GRPC_ARG_KEEPALIVE_TIMEOUT_MS, ToMs(keepalive.timeout)},
        {GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1},
        {GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, ToMs(keepalive.least_between_pings)},
        {GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, handshake_ms}}) {
    builder.AddChannelArgument(argument, value);
  }
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> interceptors;
  interceptors.push_back(watches_->NewFactory());
  builder.experimental().SetInterceptorCreators(std::move(interceptors));
  builder.RegisterService(service_.get());
  builder.RegisterCallbackGenericService(reflection_.get());
  running_ = std::make_unique<Running>();
  running_->credentials =
      options_.tls == nullptr ? grpc::InsecureServerCredentials() : std::make_shared<Credentials>(options_.tls);
  running_->acceptor = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, running_->credentials);
  running_->server = builder.BuildAndStart();
  if (running_->server == nullptr) Throw(WASINN_ERROR_RUNTIME, "cannot start gRPC's server");
}

bool GrpcServer::HasRoomFor(int descriptor) {
  if (descriptor >= options_.max_descriptor) return false;
  connections_[descriptor] = FileOf(descriptor);
  if (connections_.size() <= options_.max_connections) return true;
  const auto now = std::chrono::steady_clock::now();
  if (now >= next_count_) {
    next_count_ = now + kCountAgain;
    std::erase_if(connections_, [](const auto& one) { return FileOf(one.first) != one.second; });
  }
  if (connections_.size() <= options_.max_connections) return true;
  connections_.erase(descriptor);
  return false;
}

void GrpcServer::Take(int descriptor) {
  base::Descriptor unclaimed(descriptor);
  if (!HasRoomFor(descriptor)) return;
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
  connection.fd = unclaimed.Release();
  running_->acceptor->HandleNewConnection(&connection);
}

void GrpcServer::Drain(std::chrono::system_clock::time_point until) {
  is_draining_.store(true, std::memory_order_relaxed);
  calls_.Drain();
  if (running_ == nullptr || running_->server == nullptr) return;
  running_->server->GetHealthCheckService()->SetServingStatus(false);
  watches_->Drain();
  running_->server->Shutdown(until);
}

}  // namespace wasinn::serve
