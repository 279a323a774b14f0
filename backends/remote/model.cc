#include "remote/model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/asio/ip/address.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <iterator>
#include <mutex>
#include <new>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/on_cancel.h"
#include "common/config.h"
#include "common/error.h"
#include "remote/config.h"
#include "remote/exchange.h"
#include "remote/openai.h"
#include "remote/servers.h"
#include "remote/tensors.h"

namespace wasinn::remote {

using backend::Error;

namespace {

// Only the host names addresses: a guest's bytes never have a path.
Address AddressOf(std::span<const wasinn_builder> builders) {
  if (builders.size() != 1)
    throw Error(WASINN_ERROR_INVALID_ARGUMENT, fmt::format("expected one address, found {}", builders.size()));
  if (builders.front().path == nullptr) {
    throw Error(WASINN_ERROR_SECURITY,
                "this backend takes an address (grpc://…, http://…) that the host names, not a file or bytes");
  }
  const wasinn_builder& builder = builders.front();
  return ParseAddress({reinterpret_cast<const char*>(builder.data), builder.size});
}

// The requests of one load, which share a deadline. Each of several servers gets its share, so that a hanging server
// does not use up all of it.
class Questions {
 public:
  Questions(Servers& servers, const wasinn_load_options& options)
      : servers_(servers), options_(options), deadline_(Clock::now() + servers.config().load_timeout) {}

  Reply Ask(const Request& request) {
    for (size_t tries = 1;; ++tries) {
      Answered answered = Try(request);
      const grpc::Status& status = answered.reply.status;
      if (status.ok()) return std::move(answered.reply);
      const bool is_late = status.error_code() == grpc::DEADLINE_EXCEEDED && !answered.reply.was_answer;
      if (!is_late) Throw(status, answered.server);
      if (tries == servers_.size() || Clock::now() >= deadline_) ThrowLate(answered.server);
      servers_.SetHealthy(answered.server, false, status.error_message());
    }
  }

 private:
  using Clock = std::chrono::system_clock;

  Answered Try(const Request& request) {
    const auto share = servers_.config().load_timeout / static_cast<int64_t>(servers_.size());
    Request copy{.path = request.path, .has_body = request.has_body, .headers = request.headers, .body = {}};
    copy.body.buffer() = request.body;
    const Deadline deadline = std::min<Clock::time_point>(Clock::now() + share, deadline_);
    const auto call = std::make_shared<Call>(servers_, std::move(copy), deadline, true);
    const base::OnCancel on_cancel(options_, [&] {
      is_cancelled_ = true;
      call->Cancel();
    });
    return call->Wait();
  }
  [[noreturn]] void Throw(const grpc::Status& status, size_t server) const {
    if (is_cancelled_) {
      throw Error(WASINN_ERROR_TIMEOUT,
                  fmt::format("{} did not describe the model's inputs and outputs in time", servers_.NameOf(server)));
    }
    const bool is_late = status.error_code() == grpc::DEADLINE_EXCEEDED || status.error_code() == grpc::CANCELLED;
    throw Error(is_late ? WASINN_ERROR_UNAVAILABLE : remote::CodeOf(status),
                servers_.ForGuests(server, status.error_message()));
  }
  // Never TIMEOUT, whatever the server says: the waiting guest is not too late, and the next one would wait as long.
  [[noreturn]] void ThrowLate(size_t server) const {
    throw Error(WASINN_ERROR_UNAVAILABLE,
                fmt::format("{} did not describe the model's inputs and outputs within {} ms (load_timeout_ms)",
                            servers_.NameOf(server), servers_.config().load_timeout.count()));
  }

  Servers& servers_;
  const wasinn_load_options& options_;
  const Clock::time_point deadline_;
  std::atomic<bool> is_cancelled_ = false;
};

// Whether the server is on this machine.
bool IsOnThisMachine(const std::string& endpoint) {
  const std::string host = endpoint.substr(0, endpoint.rfind(':'));
  boost::system::error_code no_address;
  const auto address = boost::asio::ip::make_address(host, no_address);
  return host == "localhost" || host == "[::1]" || (!no_address && address.is_loopback());
}

// Warns of headers that others on the network can read.
void WarnOfPlainSecrets(const Address& address, const ModelConfig& config, const backend::Log& log) {
  constexpr std::string_view kSecrets[] = {"api-key", "authorization", "cookie", "proxy-authorization", "x-api-key"};
  if (address.is_secure || std::ranges::all_of(address.endpoints, IsOnThisMachine)) return;
  for (const auto& [name, value] : config.headers) {
    if (std::ranges::find(kSecrets, name) == std::end(kSecrets)) continue;
    log.Write(WASINN_LOG_WARNING,
              fmt::format("model '{}': header '{}' goes to {} without TLS, so others on the network can read it",
                          address.model, name, fmt::join(address.endpoints, ", ")));
  }
}

constexpr int64_t kParallel = 64;

// `parallel`: texts at a time; empty: the model generates none.
std::string Described(const Servers& servers, const Metadata& metadata, std::optional<int64_t> parallel) {
  nlohmann::json described = {{"servers", servers.size()},
                              {"model", servers.address().model},
                              {"version", servers.address().version},
                              {"platform", Quoted(metadata.platform)}};
  if (parallel) described["parallel"] = *parallel;
  return base::Dump(described);
}

// Such keys are a language model's, which has another address.
const char* LanguageHint(const std::string& key) {
  const bool is_language = std::ranges::any_of(LanguageKeys(), [&](const wasinn_key& one) { return key == one.name; });
  return is_language ? "; a language model's address is http://HOST:PORT/v1/MODEL" : "";
}

// `host_config`: the model's configuration.
std::unique_ptr<Protocol> MakeProtocol(const Address& address, const char* host_config, const backend::Log& log) {
  if (!address.base.empty()) return NewOpenAi(address, host_config, log);
  const backend::Config config(host_config, "configuration of the model");
  for (const wasinn_key& key : LanguageKeys()) {
    if (!config.Has(key.name)) continue;
    throw Error(WASINN_ERROR_INVALID_ARGUMENT,
                fmt::format("key '{}' is for language models, whose path is …/v1/MODEL", key.name));
  }
  return address.transport == Transport::kHttp ? NewOipHttp(address) : NewOipGrpc(address);
}

}  // namespace

std::shared_ptr<const LanguageSettings> Protocol::Configure(const char* guest_config) const {
  const backend::Config config(guest_config, "configuration from the guest");
  for (const std::string& key : config.Keys()) {
    throw backend::Error(
        WASINN_ERROR_INVALID_ARGUMENT,
        fmt::format("backend 'remote' has no key '{}' for guests of this model{}", Quoted(key), LanguageHint(key)));
  }
  return nullptr;
}

backend::Error Protocol::ErrorOf(const Reply& reply) const { return remote::ErrorOf(reply.status); }

// Asks each server of one model repeatedly whether the model is ready.
class Checks {
 public:
  Checks(Servers& servers, const Protocol& protocol)
      : servers_(servers), protocol_(protocol), request_(protocol.AskReady()), checks_(servers.size()) {
    request_.is_check = true;
    thread_ = std::thread([this] { Run(); });
  }
  // Cancels running checks, and waits for them.
  ~Checks() {
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
      changed_.notify_all();
    }
    thread_.join();
    std::vector<std::shared_ptr<Exchange>> exchanges;
    {
      const std::lock_guard lock(mutex_);
      for (const Check& check : checks_) exchanges.push_back(check.exchange);
    }
    for (const auto& exchange : exchanges) {
      if (exchange != nullptr) exchange->Cancel();
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return running_ == 0; });
  }
  Checks(const Checks&) = delete;
  Checks& operator=(const Checks&) = delete;

 private:
  // A busy server may be late once.
  static constexpr int kLate = 2;
  struct Check {
    std::shared_ptr<Exchange> exchange;  // NULL: no check is running
    int late = 0;                        // late checks in succession
  };

  void Run() {
    std::unique_lock lock(mutex_);
    while (!is_ending_) {
      lock.unlock();
      try {
        Begin();
      } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): retried next time
      }
      lock.lock();
      changed_.wait_for(lock, servers_.config().health_interval, [this] { return is_ending_; });
    }
  }
  // Begins a check of each server whose last check has ended. The transport may call back on this thread, so no lock is
  // held when it begins.
  void Begin() {
    for (size_t i = 0; i < checks_.size(); ++i) {
      Check& check = checks_[i];
      const auto deadline = std::chrono::system_clock::now() + servers_.config().health_timeout;
      const auto exchange = servers_.connection(i).NewExchange(request_, servers_.config().headers, deadline);
      {
        const std::lock_guard lock(mutex_);
        if (is_ending_ || check.exchange != nullptr) continue;
        check.exchange = exchange;
        ++running_;
      }
      try {
        exchange->Start([this, i](const Reply& reply) { End(i, reply); });
      } catch (...) {  // out of memory: the check did not begin
        Forget(i);
        throw;
      }
    }
  }
  void Forget(size_t server) {
    const std::lock_guard lock(mutex_);
    checks_[server].exchange.reset();  // destroyed before the servers, whose channel it holds
    --running_;
    changed_.notify_all();
  }
  void End(size_t server, const Reply& reply) {
    Check& check = checks_[server];
    int late = 0;
    bool is_ending = false;
    {
      const std::lock_guard lock(mutex_);
      check.late = reply.status.error_code() == grpc::DEADLINE_EXCEEDED ? std::min(check.late + 1, kLate) : 0;
      late = check.late;
      is_ending = is_ending_;
    }
    try {
      if (!is_ending) Judge(server, reply, late);
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the next check reports it
    }
    Forget(server);
  }
  void Judge(size_t server, const Reply& reply, int late) {
    const grpc::Status& status = reply.status;
    if (status.ok()) return SetHealth(server, protocol_.IsReady(reply), "the model is not ready there");
    if (status.error_code() == grpc::DEADLINE_EXCEEDED && late < kLate) return;
    // A server without that call, or that refuses it, does answer.
    const bool answers = status.error_code() == grpc::UNIMPLEMENTED || status.error_code() == grpc::PERMISSION_DENIED ||
                         status.error_code() == grpc::UNAUTHENTICATED;
    SetHealth(server, answers, status.error_message());
  }
  void SetHealth(size_t server, bool is_healthy, const std::string& why) {
    servers_.SetHealthy(server, is_healthy, why);
    if (!is_healthy) servers_.GiveUpCalls(server);
  }

  Servers& servers_;
  const Protocol& protocol_;
  Request request_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Check> checks_;
  size_t running_ = 0;
  bool is_ending_ = false;
  std::thread thread_;
};

Model::~Model() = default;

Model::Model(Host& host, std::span<const wasinn_builder> builders, const wasinn_load_options& options) : host_(host) {
  const Address address = AddressOf(builders);
  const ModelConfig config =
      ModelConfig::Parse(host.config(), options.host_config, address.transport, address.is_secure);
  WarnOfPlainSecrets(address, config, host.log());
  servers_ = std::make_unique<Servers>(address, config, host.connections(), host.log());
  protocol_ = MakeProtocol(address, options.host_config, host.log());
  Questions questions(*servers_, options);
  const Metadata metadata = protocol_->AskMetadata([&](const Request& request) { return questions.Ask(request); });
  signature_ = std::make_unique<Signature>(metadata);
  std::optional<int64_t> parallel;
  if (protocol_->generates()) {
    parallel = backend::Config(options.host_config, "configuration of the model").Integer("parallel", 1, 65536);
    if (!parallel) parallel = kParallel;
  }
  description_ = Described(*servers_, metadata, parallel);
  servers_->SetLoaded();
  if (servers_->size() > 1) checks_ = std::make_unique<Checks>(*servers_, *protocol_);
}

}  // namespace wasinn::remote
