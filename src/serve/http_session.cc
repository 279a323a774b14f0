#include "serve/http_session.h"

#include <poll.h>

#include <boost/asio/dispatch.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/write.hpp>

#include <exception>
#include <new>
#include <utility>

#include "serve/log.h"
#include "serve/pace.h"
#include "serve/parts_body.h"

namespace wasinn::serve {
namespace {

// How soon a client is missed. Looking costs a microsecond.
constexpr std::chrono::milliseconds kLookAgain{100};

// What is taken of a client that sends more than is wanted, so that it sees why: one whose input is not read is reset.
constexpr size_t kMostDiscarded = 64u << 20;
constexpr std::chrono::seconds kDiscarding{5};

// So large a buffer does not stay with a connection that rests.
constexpr size_t kMostResting = 16u << 10;

// Whether the other side has ended it, or cannot be reached any more, whatever it sent before.
bool HasHungUp(int descriptor) {
  pollfd look = {descriptor, POLLRDHUP, 0};
  return ::poll(&look, 1, 0) > 0;
}

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

void HttpSession::CloseAtRest() {
  asio::dispatch(stream_.get_executor(), [self = shared_from_this()] {
    if (self->rests_) self->stream_.cancel();
  });
}

Ends HttpSession::FindEnds() {
  boost::system::error_code ignored;  // a client that is gone is at 0.0.0.0
  return {stream_.socket().remote_endpoint(ignored), stream_.socket().local_endpoint(ignored)};
}

std::shared_ptr<Cancellation> HttpSession::Watch() {
  watched_ = std::make_shared<Cancellation>();
  LookWhetherGone();
  return watched_;
}

void HttpSession::LookWhetherGone() {
  watch_timer_.expires_after(kLookAgain);
  watch_timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (error || self->watched_ == nullptr) return;
    if (!HasHungUp(self->stream_.socket().native_handle())) return self->LookWhetherGone();
    self->watched_->Cancel();
  });
}

asio::awaitable<boost::beast::error_code> HttpSession::ReadBody(Parser& parser) {
  Pace pace(shared_->options.slow);
  if (boost::beast::iequals(parser.get()[http::field::expect], "100-continue")) {
    http::response<http::empty_body> go_on(http::status::continue_, parser.get().version());
    stream_.expires_at(pace.deadline());
    const auto [error, bytes] = co_await http::async_write(stream_, go_on, kAwait);
    if (error) co_return error;
  }
  parser.eager(true);
  while (!parser.is_done()) {
    stream_.expires_at(pace.deadline());
    const auto [error, bytes] = co_await http::async_read_some(stream_, buffer_, parser, kAwait);
    if (error) co_return error;
    pace.Add(bytes);
  }
  co_return boost::beast::error_code();
}

Response HttpSession::ReadFailure(const Parser& parser, boost::beast::error_code error) {
  if (error == http::error::body_limit) {
    const std::string most = std::to_string(shared_->route.most_body(parser.get()));
    return ErrorResponse(http::status::payload_too_large, "the body is larger than " + most + " bytes");
  }
  if (error == boost::system::errc::not_enough_memory) return ToResponse(NoMemory());
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return ErrorResponse(http::status::request_header_fields_too_large,
                         "the header, or a chunk's extension, or the trailer is too large");
  }
  const bool is_http = error.category() == http::make_error_code(http::error::bad_method).category();
  is_gone_ = !is_http || error == http::error::end_of_stream || error == http::error::partial_message;
  return ErrorResponse(http::status::bad_request, error.message());
}

asio::awaitable<std::optional<Response>> HttpSession::Read(Parser& parser) {
  parser.header_limit(shared_->options.max_header_bytes);
  parser.body_limit(boost::none);
  parser.get().body() = RequestBytes(Charge(shared_->options.budget));
  stream_.expires_after(shared_->options.idle);
  auto [error, read] = co_await http::async_read_header(stream_, buffer_, parser, kAwait);
  rests_ = false;
  if (!error && !parser.is_done()) {
    const uint64_t most = shared_->route.most_body(parser.get());
    parser.body_limit(most);  // which looks at chunks alone now
    if (parser.content_length().value_or(0) > most) {
      error = http::error::body_limit;
    } else {
      const auto n_fields = std::ranges::distance(parser.get());
      error = co_await ReadBody(parser);
      // They would look like headers, and nobody before us has looked at them.
      if (!error && std::ranges::distance(parser.get()) > n_fields) {
        co_return ErrorResponse(http::status::bad_request, "a body with trailers is not understood");
      }
    }
  }
  if (!error) co_return std::nullopt;
  co_return ReadFailure(parser, error);
}

asio::awaitable<Response> HttpSession::Answer(Asked& asked) {
  std::string failure;
  try {
    co_return co_await shared_->route.answer(asked);
  } catch (const std::bad_alloc&) {
    co_return ErrorResponse(http::status::service_unavailable, "the server is out of memory");
  } catch (const std::exception& error) {
    failure = error.what();
  }
  LogError(("a request failed: " + failure).c_str());
  co_return ErrorResponse(http::status::internal_server_error, failure);
}

asio::awaitable<bool> HttpSession::Write(const Header& header, Response response, bool keep_alive) {
  http::response<PartsBody> message(response.status, header.version());
  if (!response.content_type.empty()) message.set(http::field::content_type, response.content_type);
  for (const auto& [name, value] : response.headers) message.insert(name, value);
  message.body() = {std::move(response.text), std::move(response.binary)};
  message.keep_alive(keep_alive);
  message.prepare_payload();
  const bool has_length = response.status != http::status::no_content && response.status != http::status::not_modified;
  if (!has_length) message.erase(http::field::content_length);
  http::response_serializer<PartsBody> serializer(message);
  const bool header_alone = header.method() == http::verb::head;
  serializer.split(header_alone);
  Pace pace(shared_->options.slow);
  while (header_alone ? !serializer.is_header_done() : !serializer.is_done()) {
    stream_.expires_at(pace.deadline());
    const auto [error, bytes] = co_await http::async_write_some(stream_, serializer, kAwait);
    if (error) co_return false;
    pace.Add(bytes);
  }
  co_return true;
}

asio::awaitable<void> HttpSession::Discard() {
  boost::system::error_code ignored;
  stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  stream_.expires_after(kDiscarding);
  for (size_t taken = 0; taken < kMostDiscarded;) {
    buffer_.clear();
    const auto [error, bytes] = co_await stream_.async_read_some(buffer_.prepare(kMostBuffer), kAwait);
    if (error) co_return;
    taken += bytes;
  }
}

asio::awaitable<bool> HttpSession::Serve() {
  Parser parser;
  if (std::optional<Response> refusal = co_await Read(parser)) {
    if (is_gone_) co_return false;
    parser.get().body() = RequestBytes();  // what has come of it is another's room
    const bool is_written = co_await Write(parser.get(), std::move(*refusal), false);
    if (is_written) co_await Discard();
    co_return false;
  }
  stream_.expires_never();
  Asked asked{parser.release(), [this] { return FindEnds(); }, [this] { return Watch(); }};
  Response response = co_await Answer(asked);
  if (watched_ != nullptr) {
    watched_.reset();
    watch_timer_.cancel();
  }
  asked.request.body() = RequestBytes();
  const bool keep_alive = asked.request.keep_alive() && !shared_->is_draining.load(std::memory_order_relaxed);
  if (buffer_.size() == 0 && buffer_.capacity() > kMostResting) buffer_.shrink_to_fit();
  if (!co_await Write(asked.request, std::move(response), keep_alive)) co_return false;
  co_return keep_alive;
}

asio::awaitable<void> HttpSession::Run(std::shared_ptr<HttpSession> self) {
  while (!self->shared_->is_draining.load(std::memory_order_relaxed)) {
    self->rests_ = true;
    if (!co_await self->Serve()) break;
  }
  boost::system::error_code ignored;
  self->stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
}

}  // namespace wasinn::serve
