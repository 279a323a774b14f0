#include "serve/http_server.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include <chrono>
#include <utility>

#include "cli/log.h"
#include "serve/http_session.h"

namespace wasinn::serve {
namespace {

// Where the system has no descriptor left for a connection.
constexpr std::chrono::milliseconds kUntilNext{50};

}  // namespace

Outcome<void> HttpServer::Listen(const std::string& host, uint16_t port) {
  boost::system::error_code error;
  const asio::ip::address address = asio::ip::make_address(host, error);
  if (error)
    return std::unexpected(Failure{WASINN_INVALID_ARGUMENT, "'" + host + "' is no address: " + error.message()});
  const asio::ip::tcp::endpoint endpoint(address, port);
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    return std::unexpected(Failure{WASINN_RUNTIME_ERROR,
                                   "cannot listen on " + host + ":" + std::to_string(port) + ": " + error.message()});
  }
  port_ = acceptor_.local_endpoint().port();
  asio::co_spawn(acceptor_.get_executor(), Accept(), asio::detached);
  return {};
}

asio::awaitable<void> HttpServer::Accept() {
  asio::steady_timer timer(acceptor_.get_executor());
  while (!shared_->is_draining.load(std::memory_order_relaxed)) {
    auto [error, socket] = co_await acceptor_.async_accept(asio::make_strand(context_), kAwait);
    if (!error) {
      Begin(std::move(socket));
    } else if (acceptor_.is_open()) {
      timer.expires_after(kUntilNext);
      co_await timer.async_wait(kAwait);
    }
  }
}

void HttpServer::Begin(asio::ip::tcp::socket socket) {
  if (connections() >= shared_->options.max_connections) return;  // it goes, and the client may try again
  const std::shared_ptr<HttpSession> session = HttpSession::Make(shared_, std::move(socket));
  asio::co_spawn(session->executor(), HttpSession::Run(session), asio::detached);
}

void HttpServer::Drain() {
  shared_->is_draining.store(true, std::memory_order_relaxed);
  asio::dispatch(acceptor_.get_executor(), [this] {
    boost::system::error_code ignored;
    acceptor_.close(ignored);
  });
  std::vector<std::shared_ptr<HttpSession>> sessions;
  {
    const std::lock_guard lock(shared_->mutex);
    for (const auto& [session, weak] : shared_->sessions) {
      if (auto lives = weak.lock()) sessions.push_back(std::move(lives));
    }
  }
  for (const std::shared_ptr<HttpSession>& session : sessions) session->CloseAtRest();
}

}  // namespace wasinn::serve
