// The same as remote_server.h over HTTP.
#pragma once

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <thread>

namespace wasinn::testing {

// One thread for all connections.
class HttpInferenceServer {
 public:
  explicit HttpInferenceServer(size_t held);
  ~HttpInferenceServer();
  HttpInferenceServer(const HttpInferenceServer&) = delete;
  HttpInferenceServer& operator=(const HttpInferenceServer&) = delete;

  std::string address() const;
  size_t holding() const { return count_.load(); }

 private:
  using Socket = boost::asio::ip::tcp::socket;

  boost::asio::awaitable<void> Accept();
  boost::asio::awaitable<void> Serve(std::shared_ptr<Socket> socket);
  // False: the client has gone.
  boost::asio::awaitable<bool> Hold(Socket& socket);

  const size_t held_;
  boost::asio::io_context context_{1};
  boost::asio::ip::tcp::acceptor acceptor_;
  std::list<Socket*> holding_;
  std::atomic<size_t> count_ = 0;
  bool answers_ = false;
  std::thread thread_;
};

}  // namespace wasinn::testing
