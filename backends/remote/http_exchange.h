// An HTTP request and its answer.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/http/parser.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "remote/exchange.h"
#include "remote/http_body.h"
#include "remote/http_link.h"
#include "remote/http_pool.h"

namespace wasinn::remote {

using HttpParser = boost::beast::http::response_parser<HttpBody>;

// Everything except Start, Wait and Cancel runs on the loop's thread. A reader thread calls Start's `done`: handling an
// answer may take long, and all connections need the loop.
class HttpExchange final : public Exchange, public std::enable_shared_from_this<HttpExchange> {
 public:
  // `head`: everything before the body. `most`: the limit of an answer's body in bytes.
  HttpExchange(std::shared_ptr<HttpPool> pool, boost::asio::thread_pool& readers, std::string head,
               const Request& request, Deadline deadline, uint64_t most);

  void Start(Done done) override;
  Reply Wait() override;
  void Cancel() override;

 private:
  void Post(Done done);
  void Begin();
  // Called before the exchange has an answer.
  void Abort(grpc::StatusCode code, const char* words);
  boost::asio::awaitable<Reply> Run();
  boost::asio::awaitable<Reply> Talk();
  boost::asio::awaitable<boost::system::error_code> ReadAnswer(std::optional<HttpParser>& parser);
  Reply Failed(const boost::system::error_code& error, bool has_begun);
  void End(Reply reply);
  void CallDone();

  const std::shared_ptr<HttpPool> pool_;
  boost::asio::thread_pool& readers_;
  const std::string head_;
  const Request& request_;
  const Deadline deadline_;
  const uint64_t most_;
  boost::asio::steady_timer timer_;
  Done done_;
  bool has_reader_ = false;
  HttpPool::Place place_;
  std::shared_ptr<HttpLink> link_;
  std::optional<grpc::Status> aborted_;
  Reply reply_;
};

}  // namespace wasinn::remote
