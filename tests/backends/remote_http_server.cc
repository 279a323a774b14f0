#include "backends/remote_http_server.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <utility>

namespace wasinn::testing {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

namespace {

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

// The answer to a client's request, or the tensor that follows its JSON.
http::response<http::string_body> AnswerTo(const http::request<http::string_body>& request) {
  constexpr std::string_view kTensor = R"("name":"x","datatype":"FP32","shape":[1])";
  http::response<http::string_body> answer{http::status::ok, 11};
  if (request.method() == http::verb::post) {
    const std::string raw = request.body().substr(request.body().size() - sizeof(float));
    const std::string json = "{\"outputs\":[{" + std::string(kTensor) + R"(,"parameters":{"binary_data_size":4}}]})";
    answer.set("Inference-Header-Content-Length", std::to_string(json.size()));
    answer.body() = json + raw;
  } else if (request.target() == "/v2") {
    answer.body() = R"({"name":"test","extensions":["binary_tensor_data"]})";
  } else {
    const std::string tensors = "[{" + std::string(kTensor) + "}]";
    answer.body() = R"({"name":"m","inputs":)" + tensors + ",\"outputs\":" + tensors + "}";
  }
  answer.prepare_payload();
  return answer;
}

}  // namespace

HttpInferenceServer::HttpInferenceServer(size_t held)
    : held_(held), acceptor_(context_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
  asio::co_spawn(context_, Accept(), asio::detached);
  thread_ = std::thread([this] { context_.run(); });
}

HttpInferenceServer::~HttpInferenceServer() {
  context_.stop();
  thread_.join();
}

std::string HttpInferenceServer::address() const {
  return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()) + "/v2/models/m";
}

asio::awaitable<void> HttpInferenceServer::Accept() {
  for (;;) {
    auto [error, socket] = co_await acceptor_.async_accept(kAwait);
    if (!error) asio::co_spawn(context_, Serve(std::make_shared<Socket>(std::move(socket))), asio::detached);
  }
}

asio::awaitable<void> HttpInferenceServer::Serve(std::shared_ptr<Socket> socket) {
  boost::beast::flat_buffer buffer;
  for (;;) {
    http::request<http::string_body> request;
    if (const auto [error, n] = co_await http::async_read(*socket, buffer, request, kAwait); error) co_return;
    if (request.method() == http::verb::post && !co_await Hold(*socket)) co_return;
    const auto answer = AnswerTo(request);
    if (const auto [error, n] = co_await http::async_write(*socket, answer, kAwait); error) co_return;
  }
}

// A client says nothing more before it is answered, so that what comes is its end, or our cancel.
asio::awaitable<bool> HttpInferenceServer::Hold(Socket& socket) {
  if (answers_) co_return true;
  const auto place = holding_.insert(holding_.end(), &socket);
  if (++count_ >= held_) {
    answers_ = true;
    for (Socket* one : std::exchange(holding_, {})) {
      if (one != &socket) one->cancel();
    }
    count_ = 0;
    co_return true;
  }
  co_await socket.async_wait(tcp::socket::wait_read, kAwait);
  if (answers_) co_return true;
  holding_.erase(place);
  --count_;
  co_return false;
}

}  // namespace wasinn::testing
