#include "serve/http/http_server.h"

#include <sys/socket.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/strand.hpp>

#include <exception>
#include <utility>
#include <vector>

#include "serve/descriptors.h"
#include "serve/http/http_session.h"
#include "serve/log.h"

namespace wasinn::serve {
namespace {

asio::ip::tcp ProtocolOf(int descriptor) {
  int domain = AF_INET;
  socklen_t size = sizeof domain;
  ::getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size);
  return domain == AF_INET6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4();
}

}  // namespace

void HttpServer::Take(int descriptor) {
  Unclaimed unclaimed(descriptor);
  const HttpOptions& options = shared_->options;
  // One connection too many is closed, and its client may try again.
  if (connections() >= options.max_connections || descriptor >= options.max_descriptor) return;
  asio::ip::tcp::socket socket(asio::make_strand(context_));
  socket.assign(ProtocolOf(descriptor), descriptor);
  unclaimed.Claim();
  const std::shared_ptr<HttpSession> session = HttpSession::Make(shared_, std::move(socket));
  asio::co_spawn(session->executor(), HttpSession::Run(session), [](std::exception_ptr thrown) {
    if (thrown != nullptr) LogError("a connection ended for want of memory");
  });
}

void HttpServer::Drain() {
  shared_->is_draining.store(true, std::memory_order_relaxed);
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
