#include "remote/http_connection.h"

#include <fmt/format.h>

#include <boost/asio/post.hpp>
#include <iterator>
#include <utility>

#include "remote/http_exchange.h"

namespace wasinn::remote {

namespace {

// Names and values are an address's, the configuration's and our own, which have been checked.
std::string HeadOf(const std::string& endpoint, const Request& request, const Headers& headers) {
  std::string head = fmt::format("{} {} HTTP/1.1\r\nhost: {}\r\nuser-agent: wasinn\r\naccept-encoding: identity\r\n",
                                 request.has_body ? "POST" : "GET", request.path, endpoint);
  const auto end = std::back_inserter(head);
  if (request.has_body) fmt::format_to(end, "content-length: {}\r\n", request.body.Length());
  for (const Headers* some : {&request.headers, &headers}) {
    for (const auto& [name, value] : *some) fmt::format_to(end, "{}: {}\r\n", name, value);
  }
  return head + "\r\n";
}

}  // namespace

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
  return std::make_shared<HttpExchange>(pool_, loop_.readers(), HeadOf(endpoint(), request, headers), request, deadline,
                                        most_);
}

}  // namespace wasinn::remote
