// Connections to servers.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "remote/exchange.h"

namespace wasinn::remote {

// One server, by its address. Connects for an exchange, and again after a lost connection. Thread-safe.
class Connection {
 public:
  explicit Connection(std::string endpoint) : endpoint_(std::move(endpoint)) {}
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  const std::string& endpoint() const { return endpoint_; }
  // `request` and `headers`, which are sent with it, must outlive the exchange.
  virtual std::shared_ptr<Exchange> NewExchange(const Request& request, const Headers& headers, Deadline deadline) = 0;

 private:
  const std::string endpoint_;
};

}  // namespace wasinn::remote
