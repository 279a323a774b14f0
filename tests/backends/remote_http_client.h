// Clients of HTTP for tests, and what servers answer them.
#pragma once

#include "backends/scripted_server.h"
#include "remote/http_connection.h"
#include "support/test.h"

namespace wasinn::remote::testing {

using wasinn::testing::ScriptedConnection;
using wasinn::testing::ScriptedServer;

inline constexpr uint32_t kMax = 100'000;  // bytes of an answer

inline std::string Ok(const std::string& body, const std::string& more = "") {
  return "HTTP/1.1 200 OK\r\n" + more + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// Answers each request of a connection with the same.
inline ScriptedServer::Script Always(const std::string& answer) {
  return [answer](ScriptedConnection& one) {
    while (!one.Read().empty() && one.Write(answer)) {
    }
  };
}

inline std::string TextOf(const grpc::ByteBuffer& message) {
  std::vector<grpc::Slice> slices;
  std::string text;
  if (message.Valid() && message.Dump(&slices).ok()) {
    for (const grpc::Slice& one : slices) text.append(reinterpret_cast<const char*>(one.begin()), one.size());
  }
  return text;
}

inline ConnectionConfig ConfigOf(uint32_t connections) {
  ConnectionConfig config;
  config.transport = Transport::kHttp;
  config.max_message_bytes = kMax;
  config.max_connections = connections;
  config.connect_timeout = kPatience;
  return config;
}

struct Client {
  Client(HttpLoop& loop, const std::string& endpoint, uint32_t connections = 256)
      : connection(MakeHttpConnection(loop, endpoint, ConfigOf(connections))) {}
  std::shared_ptr<Exchange> New(const Request& request, Deadline deadline = std::nullopt) const {
    return connection->NewExchange(request, headers, deadline);
  }
  Reply Get(Deadline deadline = std::nullopt) const {
    const Request request{.path = "/v2", .has_body = false};
    return New(request, deadline)->Wait();
  }
  const Headers headers{{"x-team", "red"}};
  std::shared_ptr<Connection> connection;
};

// Ends of exchanges, as they come.
class Ends {
 public:
  Exchange::Done Next() {
    return [this](Reply reply) {
      const std::lock_guard lock(mutex_);
      replies_.push_back(std::move(reply));
      changed_.notify_all();
    };
  }
  std::vector<Reply> Await(size_t n) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return replies_.size() >= n; });
    return std::exchange(replies_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Reply> replies_;
};

inline Deadline In(std::chrono::milliseconds time) { return std::chrono::system_clock::now() + time; }

}  // namespace wasinn::remote::testing
