// A server that speaks HTTP/1.1.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "remote/config.h"
#include "remote/connection.h"
#include "remote/http_loop.h"
#include "remote/http_pool.h"

namespace wasinn::remote {

class HttpConnection final : public Connection {
 public:
  HttpConnection(HttpLoop& loop, std::string endpoint, const ConnectionConfig& config);
  ~HttpConnection() override;

  std::shared_ptr<Exchange> NewExchange(const Request& request, const Headers& headers, Deadline deadline) override;

 private:
  HttpLoop& loop_;
  const std::shared_ptr<HttpPool> pool_;
  const uint64_t most_;
};

}  // namespace wasinn::remote
