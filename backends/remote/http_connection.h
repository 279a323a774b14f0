// A server that speaks HTTP/1.1, and the threads of a host's HTTP connections.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <thread>

#include "remote/config.h"
#include "remote/exchange.h"

namespace wasinn::remote {

// One thread for connections, and others that read answers.
class HttpLoop {
 public:
  HttpLoop();
  // No call is waiting by now.
  ~HttpLoop();
  HttpLoop(const HttpLoop&) = delete;
  HttpLoop& operator=(const HttpLoop&) = delete;

  boost::asio::io_context& context() { return context_; }
  boost::asio::thread_pool& readers() { return readers_; }

 private:
  static constexpr size_t kReaders = 2;
  void Run();

  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  boost::asio::thread_pool readers_{kReaders};
  std::thread thread_;
};

// `loop` outlives it.
std::shared_ptr<Connection> MakeHttpConnection(HttpLoop& loop, const std::string& endpoint,
                                               const ConnectionConfig& config);

}  // namespace wasinn::remote
