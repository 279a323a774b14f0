#include "remote/http_connection.h"

#include <boost/asio/post.hpp>
#include <optional>
#include <utility>

#include "remote/http_exchange.h"

namespace wasinn::remote {

HttpConnection::HttpConnection(HttpLoop& loop, std::string endpoint, const ConnectionConfig& config)
    : Connection(std::move(endpoint)),
      loop_(loop),
      pool_(std::make_shared<HttpPool>(loop.context(), this->endpoint(), config)),
      most_(config.max_message_bytes) {}

HttpConnection::~HttpConnection() {
  boost::asio::post(pool_->context(), [pool = pool_] { pool->Close(); });
}

std::shared_ptr<Exchange> HttpConnection::NewExchange(const Request& request, const Headers& headers,
                                                      Deadline deadline) {
  const std::optional<uint64_t> length =
      request.has_body ? std::optional<uint64_t>(request.body.Length()) : std::nullopt;
  std::string head = HeadOf(endpoint(), request.path, length, {&request.headers, &headers});
  return std::make_shared<HttpExchange>(pool_, loop_.readers(), std::move(head), request, deadline, most_);
}

}  // namespace wasinn::remote
