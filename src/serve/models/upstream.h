// A language model on servers with OpenAI's API: its settings, its connections, and the number of its requests. /v1
// passes its clients' requests on to it; guests use the backend `remote`.
#pragma once

#include <boost/asio/ssl/context.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "remote/config.h"
#include "remote/http_stream.h"
#include "serve/oip/inference.h"
#include "serve/threads/fair_queue.h"
#include "serve/threads/workers.h"

namespace wasinn::serve {

// JSON of [backends.remote], and of each [models.NAME.config].
struct UpstreamSettings {
  std::string backend = "{}";
  std::map<std::string, std::string> models;
};

// Thread-safe.
class Upstream : public std::enable_shared_from_this<Upstream> {
 public:
  // Whether the path of a model is such an address.
  static bool IsAddress(std::string_view path);
  // `name`: of the model, for the log.
  static std::shared_ptr<Upstream> Make(std::string name, const std::string& address, const UpstreamSettings& settings);

  // One of its current requests, and its server.
  class Place {
   public:
    Place(Place&& other) noexcept = default;
    Place& operator=(Place&& other) = delete;
    ~Place();

   private:
    friend class Upstream;
    Place(std::shared_ptr<Upstream> whose, uint64_t share) : upstream_(std::move(whose)), share_(share) {}
    std::shared_ptr<Upstream> upstream_;
    uint64_t share_;
    std::optional<size_t> server_;
  };
  // BUSY: the limit is reached. If there are several tenants, none gets the last quarter of the places.
  Place Enter(const Share& share);
  // A server that this request has not tried yet: one with few requests, and preferably one that is not known to be
  // away. Empty: there is none.
  std::optional<size_t> Choose(Place& place, std::vector<bool>& tried);

  // An idle connection; NULL: there is none.
  std::unique_ptr<remote::HttpStream> TakeIdle(size_t server);
  // Keeps a connection whose answer is complete, for another request.
  void KeepIdle(size_t server, std::unique_ptr<remote::HttpStream> stream);
  // Logs that a server fails, and that it serves again. `why` is "" if it serves.
  void LogState(size_t server, const std::string& why);
  // Logs once that the server refuses requests with this status.
  void LogRefused(size_t server, unsigned status);

  const remote::Address& address() const { return address_; }
  const std::string& endpoint(size_t server) const { return address_.endpoints[server]; }
  const remote::Headers& headers() const { return config_.headers; }
  std::chrono::milliseconds connect_timeout() const { return config_.connection.connect_timeout; }
  // The name that a server's certificate must have.
  std::string NameOf(const std::string& host) const {
    return config_.connection.server_name.empty() ? host : config_.connection.server_name;
  }
  boost::asio::ssl::context* tls() { return tls_ ? &*tls_ : nullptr; }
  Workers::Load Look() const;
  // Closes idle connections, and keeps none from here on.
  void Stop();

 private:
  using Clock = std::chrono::steady_clock;
  struct Idle {
    std::unique_ptr<remote::HttpStream> stream;
    Clock::time_point until;
  };
  struct Server {
    size_t n_requests = 0;
    Clock::time_point away_until;  // until then it is tried last
    bool is_away = false, is_refusing = false;
    std::vector<Idle> idle;  // the last used one last
  };

  Upstream(std::string name, remote::Address address, remote::ModelConfig config, size_t most);
  void Leave(const Place& place);
  void Log(size_t server, bool is_warning, const std::string& what) const;

  const std::string name_;
  const remote::Address address_;
  const remote::ModelConfig config_;
  const size_t most_;
  std::optional<boost::asio::ssl::context> tls_;
  mutable std::mutex mutex_;  // guards the members below
  size_t n_requests_ = 0;
  std::map<uint64_t, size_t> n_of_;  // by tenant's share
  std::vector<Server> servers_;
  bool is_stopped_ = false;
};

}  // namespace wasinn::serve
