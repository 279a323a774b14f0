#include "serve/http_session.h"

#include <boost/asio/dispatch.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include <exception>
#include <utility>

#include "cli/log.h"
#include "serve/json_response.h"
#include "serve/parts_body.h"

namespace wasinn::serve {
namespace {

constexpr uint64_t kSlowest = 100'000;  // bytes per second

}  // namespace

std::shared_ptr<HttpSession> HttpSession::Make(std::shared_ptr<HttpShared> shared, asio::ip::tcp::socket socket) {
  std::shared_ptr<HttpSession> made(new HttpSession(std::move(shared), std::move(socket)));
  const std::lock_guard lock(made->shared_->mutex);
  made->shared_->sessions.emplace(made.get(), made);
  return made;
}

HttpSession::~HttpSession() {
  shared_->n_connections.fetch_sub(1, std::memory_order_relaxed);
  const std::lock_guard lock(shared_->mutex);
  shared_->sessions.erase(this);
}

void HttpSession::ExpireAfter(uint64_t bytes) {
  stream_.expires_after(shared_->options.slow + std::chrono::seconds(bytes / kSlowest));
}

void HttpSession::CloseAtRest() {
  asio::dispatch(stream_.get_executor(), [self = shared_from_this()] {
    if (self->rests_) self->stream_.cancel();
  });
}

asio::awaitable<bool> HttpSession::Continue(Parser& parser) {
  if (!boost::beast::iequals(parser.get()[http::field::expect], "100-continue")) co_return true;
  http::response<http::empty_body> go_on(http::status::continue_, parser.get().version());
  const auto [error, bytes] = co_await http::async_write(stream_, go_on, kAwait);
  co_return !error;
}

asio::awaitable<std::optional<Response>> HttpSession::Read(Parser& parser, BodyCharge& charge) {
  parser.header_limit(shared_->options.max_header_bytes);
  parser.body_limit(shared_->options.max_body_bytes);
  stream_.expires_after(shared_->options.idle);
  auto [error, read] = co_await http::async_read_header(stream_, buffer_, parser, kAwait);
  rests_ = false;
  if (!error && !parser.is_done()) {
    const uint64_t bytes = parser.content_length().value_or(shared_->options.max_body_bytes);
    if (!charge.Take(bytes, shared_->options.max_bodies_bytes)) {
      Response busy = ErrorResponse(http::status::too_many_requests, "the server holds as many requests as it may");
      busy.headers = {{"Retry-After", "1"}};
      co_return busy;
    }
    ExpireAfter(bytes);
    if (!co_await Continue(parser)) error = http::error::end_of_stream;
    if (!error) std::tie(error, read) = co_await http::async_read(stream_, buffer_, parser, kAwait);
  }
  if (!error) co_return std::nullopt;
  if (error == http::error::body_limit) {
    co_return ErrorResponse(http::status::payload_too_large,
                            "the body is larger than " + std::to_string(shared_->options.max_body_bytes) + " bytes");
  }
  if (error == http::error::header_limit) {
    co_return ErrorResponse(http::status::request_header_fields_too_large, "the header is too large");
  }
  const bool is_http = error.category() == http::make_error_code(http::error::bad_method).category();
  is_gone_ = !is_http || error == http::error::end_of_stream || error == http::error::partial_message;
  co_return ErrorResponse(http::status::bad_request, error.message());
}

asio::awaitable<Response> HttpSession::Answer(const Request& request) {
  std::string failure;
  try {
    co_return co_await shared_->route(request);
  } catch (const std::bad_alloc&) {
    failure = "the server is out of memory";
  } catch (const std::exception& error) {
    failure = error.what();
  }
  cli::Log(WASINN_LOG_ERROR, ("a request failed: " + failure).c_str());
  co_return ErrorResponse(http::status::internal_server_error, failure);
}

asio::awaitable<bool> HttpSession::Write(const Request& request, Response response, bool keep_alive) {
  http::response<PartsBody> message(response.status, request.version());
  message.set(http::field::content_type, response.content_type);
  for (const auto& [name, value] : response.headers) message.insert(name, value);
  message.body() = {std::move(response.text), std::move(response.binary)};
  message.keep_alive(keep_alive);
  message.prepare_payload();
  ExpireAfter(PartsBody::size(message.body()));
  const auto [error, bytes] = co_await http::async_write(stream_, message, kAwait);
  co_return !error && keep_alive;
}

asio::awaitable<bool> HttpSession::Serve() {
  BodyCharge charge(shared_->body_bytes);
  Parser parser;
  std::optional<Response> refusal = co_await Read(parser, charge);
  if (is_gone_) co_return false;
  if (refusal)
    co_return co_await Write(parser.get(), std::move(*refusal), false);  // what it sends meanwhile is not read
  const Request request = parser.release();
  stream_.expires_never();
  Response response = co_await Answer(request);
  const bool keep_alive = request.keep_alive() && !shared_->is_draining.load(std::memory_order_relaxed);
  co_return co_await Write(request, std::move(response), keep_alive);
}

asio::awaitable<void> HttpSession::Run(std::shared_ptr<HttpSession> self) {
  boost::system::error_code ignored;
  self->stream_.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
  while (!self->shared_->is_draining.load(std::memory_order_relaxed)) {
    self->rests_ = true;
    if (!co_await self->Serve()) break;
  }
  self->stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
}

}  // namespace wasinn::serve
