// The thread on which a host's connections of HTTP live.
#ifndef WASINN_BACKENDS_REMOTE_HTTP_LOOP_H_
#define WASINN_BACKENDS_REMOTE_HTTP_LOOP_H_

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <thread>

namespace wasinn::remote {

class HttpLoop {
 public:
  HttpLoop();
  // By now nobody waits for anything.
  ~HttpLoop();
  HttpLoop(const HttpLoop&) = delete;
  HttpLoop& operator=(const HttpLoop&) = delete;

  boost::asio::io_context& context() { return context_; }

 private:
  void Run();

  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::thread thread_;
};

}  // namespace wasinn::remote

#endif  // WASINN_BACKENDS_REMOTE_HTTP_LOOP_H_
