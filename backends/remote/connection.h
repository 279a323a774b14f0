// Connections to servers.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "remote/exchange.h"

namespace wasinn::remote {

// One server, by its address. It is connected when an exchange needs it, and again after a connection was lost. Any thread.
class Connection {
 public:
  explicit Connection(std::string endpoint) : endpoint_(std::move(endpoint)) {}
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  const std::string& endpoint() const { return endpoint_; }
  // `request` and `headers`, which go along with it, outlive the exchange's end.
  virtual std::shared_ptr<Exchange> NewExchange(const Request& request, const Headers& headers, Deadline deadline) = 0;

 private:
  const std::string endpoint_;
};

}  // namespace wasinn::remote
