#include "serve/http/http_server.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <poll.h>
#include <sys/socket.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include <algorithm>
#include <exception>
#include <iterator>
#include <new>
#include <vector>

#include "base/descriptor.h"
#include "serve/http/http_stream.h"
#include "serve/http/response_writer.h"
#include "serve/log.h"

namespace wasinn::serve {
namespace {

// How soon a disconnected client is noticed. A look costs a microsecond.
constexpr std::chrono::milliseconds kLookAgain{100};

// Read from a client that sends too much, so that it sees the error: unread input would reset the connection.
constexpr size_t kMaxDiscarded = 64u << 20;
constexpr std::chrono::seconds kDiscarding{5};

// The limit of a header. A line of four bytes takes twenty times as much memory, which is not charged.
constexpr ptrdiff_t kMaxHeaderLines = 128;

// For TLS to begin, if --client-timeout is not shorter; and for its end.
constexpr std::chrono::milliseconds kHandshake{20'000}, kEnding{5'000};

// Whether the other side has closed it, or is unreachable, whatever it sent before.
bool HasHungUp(int descriptor) {
  pollfd look = {descriptor, POLLRDHUP, 0};
  return ::poll(&look, 1, 0) > 0;
}

// Counts a request that is being answered.
class Answering {
 public:
  explicit Answering(std::atomic<size_t>& count) : count_(count) { count_.fetch_add(1, std::memory_order_relaxed); }
  ~Answering() { count_.fetch_sub(1, std::memory_order_relaxed); }
  Answering(const Answering&) = delete;
  Answering& operator=(const Answering&) = delete;

 private:
  std::atomic<size_t>& count_;
};

// The tenant's name, if there are tenants.
std::string TenantNameOf(const Admission& admission) {
  return admission.tenant == nullptr || admission.tenant->share().is_alone() ? "" : admission.tenant->name();
}

// A body has a length, or comes in chunks: a proxy before this server may read anything else in another way.
std::optional<Response> CheckForm(const http::request_parser<RequestBody>& parser) {
  const Header& header = parser.get();
  const auto n_codings = header.count(http::field::transfer_encoding);
  const bool is_plain = n_codings == 0;
  const bool is_chunked = n_codings == 1 && header.version() == 11 &&
                          boost::beast::iequals(header[http::field::transfer_encoding], "chunked");
  if (is_plain || is_chunked) return std::nullopt;
  return ErrorResponse(http::status::bad_request, "the body's Transfer-Encoding is not 'chunked'");
}

// Removes the parts that are not needed any more.
void Shorten(Header& header) {
  for (auto line = header.begin(); line != header.end();) {
    line = line->name() == http::field::user_agent ? std::next(line) : header.erase(line);
  }
}

// Reports the trace to the client that began it.
void AddTrace(const Trace& trace, Response& response) {
  if (!trace.is_continued()) return;
  std::erase_if(response.headers, [](const auto& one) { return boost::beast::iequals(one.first, "traceparent"); });
  response.headers.emplace_back("traceparent", trace.ToHeader());
}

asio::ip::tcp ProtocolOf(int descriptor) {
  int domain = AF_INET;
  socklen_t size = sizeof domain;
  ::getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size);
  return domain == AF_INET6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4();
}

}  // namespace

// One connection of a client: requests, one after the other. All functions except CloseIfIdle run on the stream's strand.
class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  static std::shared_ptr<HttpSession> Make(std::shared_ptr<HttpShared> shared, asio::ip::tcp::socket socket) {
    std::shared_ptr<HttpSession> made(new HttpSession(std::move(shared), std::move(socket)));
    const std::lock_guard lock(made->shared_->mutex);
    made->shared_->sessions.emplace(made.get(), made);
    return made;
  }
  ~HttpSession() {
    shared_->n_connections.fetch_sub(1, std::memory_order_relaxed);
    const std::lock_guard lock(shared_->mutex);
    shared_->sessions.erase(this);
  }

  static asio::awaitable<void> Run(std::shared_ptr<HttpSession> self) {
    const bool has_begun = co_await self->stream_.Handshake(std::min(kHandshake, self->shared_->options.slow));
    if (!has_begun) co_return;
    while (!self->shared_->is_draining.load(std::memory_order_relaxed)) {
      self->is_idle_ = true;
      if (!co_await self->Serve()) break;
    }
    if (self->is_broken_) {
      self->stream_.SetBroken();
      co_return;
    }
    co_await self->stream_.EndWriting(kEnding);
  }
  auto executor() { return stream_.get_executor(); }
  // Closes it if it is idle. Thread-safe.
  void CloseIfIdle() {
    asio::dispatch(stream_.get_executor(), [self = shared_from_this()] {
      if (self->is_idle_) self->stream_.tcp().cancel();
    });
  }

 private:
  HttpSession(std::shared_ptr<HttpShared> shared, asio::ip::tcp::socket socket)
      : shared_(std::move(shared)),
        stream_(std::move(socket), shared_->options.tls == nullptr ? nullptr : shared_->options.tls->current()),
        watch_timer_(stream_.get_executor()) {
    shared_->n_connections.fetch_add(1, std::memory_order_relaxed);
  }

  using Parser = http::request_parser<RequestBody>;

  // Returns whether another request may follow.
  asio::awaitable<bool> Serve() {
    Parser parser;
    if (std::optional<Response> refusal = co_await Read(parser)) {
      About about;
      if (parser.is_header_done()) about.trace = TraceOf(parser.get());
      about.tenant = TenantNameOf(admission_);
      admission_ = {};
      if (is_gone_) {
        if (parser.is_header_done()) Log(parser.get(), std::move(about), std::nullopt, false);
        co_return false;
      }
      parser.get().body() = RequestBytes();  // its bytes take up room
      Shorten(parser.get());
      Shape(parser.get(), *refusal);
      AddTrace(about.trace, *refusal);
      const http::status status = refusal->status;
      const bool is_written = co_await Write(parser.get(), std::move(*refusal), false);
      Log(parser.get(), std::move(about), status, is_written);
      if (is_written) co_await Discard();
      co_return false;
    }
    stream_.tcp().expires_never();
    Exchange exchange{parser.release(), std::exchange(admission_, {}), [this] { return FindEnds(); },
                      [this] { return Watch(); }};
    exchange.about.trace = TraceOf(exchange.request);
    exchange.about.tenant = TenantNameOf(exchange.admission);
    Response response = co_await Answer(exchange);
    if (response.source == nullptr) StopWatching();
    exchange.request.body() = RequestBytes();
    const bool keep_alive = ResponseWriter::HasEnd(exchange.request, response) && exchange.request.keep_alive() &&
                            !shared_->is_draining.load(std::memory_order_relaxed);
    Shape(exchange.request, response);
    AddTrace(exchange.about.trace, response);
    const http::status status = response.status;
    const bool is_written = co_await Write(exchange.request, std::move(response), keep_alive);
    StopWatching();
    Log(exchange.request, std::move(exchange.about), status, is_written, exchange.admission.generation.get());
    co_return (is_written && keep_alive);
  }
  // No value: the whole request has come. Otherwise a response, which has no reader if `is_gone_`.
  asio::awaitable<std::optional<Response>> Read(Parser& parser) {
    parser.header_limit(shared_->options.max_header_bytes);
    parser.body_limit(boost::none);
    stream_.tcp().expires_after(shared_->options.idle);
    auto [error, read] = co_await http::async_read_header(stream_, buffer_, parser, kAwait);
    is_idle_ = false;
    begun_ = std::chrono::steady_clock::now();
    bytes_in_ = read;
    bytes_out_ = 0;
    if (!error) {
      if (std::ranges::distance(parser.get()) > kMaxHeaderLines) {
        co_return ErrorResponse(http::status::request_header_fields_too_large,
                                fmt::format("the header has more than {} lines", kMaxHeaderLines));
      }
      auto admitted = shared_->route.admit(parser.get());
      if (!admitted) co_return std::move(admitted.error());
      admission_ = std::move(*admitted);
      if (auto refusal = CheckForm(parser)) co_return refusal;
      parser.get().body() = RequestBytes(Charge(admission_.tenant->budget()));
    }
    if (!error && !parser.is_done()) {
      most_body_ = shared_->route.most_body(parser.get(), admission_);
      parser.body_limit(most_body_);  // now only limits chunks
      if (parser.content_length().value_or(0) > most_body_) {
        error = http::error::body_limit;
      } else {
        const auto n_fields = std::ranges::distance(parser.get());
        error = co_await ReadBody(parser);
        // They would look like headers, and no proxy before this server has checked them.
        if (!error && std::ranges::distance(parser.get()) > n_fields) {
          co_return ErrorResponse(http::status::bad_request, "a body with trailers is not understood");
        }
      }
    }
    if (!error) co_return std::nullopt;
    co_return ReadFailure(error);
  }
  asio::awaitable<boost::beast::error_code> ReadBody(Parser& parser) {
    MinDataRate min_rate(shared_->options.slow);
    const Header& header = parser.get();
    // A client of HTTP/1.0 would take it for the answer.
    if (header.version() == 11 && boost::beast::iequals(header[http::field::expect], "100-continue")) {
      http::response<http::empty_body> go_on(http::status::continue_, header.version());
      stream_.tcp().expires_at(min_rate.deadline());
      const auto [error, bytes] = co_await http::async_write(stream_, go_on, kAwait);
      if (error) co_return error;
    }
    parser.eager(true);
    // By default Beast reads 512 bytes at a time; else as many as there is room for.
    buffer_.reserve(std::min<uint64_t>(parser.content_length().value_or(UINT64_MAX), buffer_.max_size()));
    while (!parser.is_done()) {
      stream_.tcp().expires_at(min_rate.deadline());
      const auto [error, bytes] = co_await http::async_read_some(stream_, buffer_, parser, kAwait);
      bytes_in_ += bytes;
      if (error) co_return error;
      min_rate.Add(bytes);
    }
    co_return boost::beast::error_code();
  }
  Response ReadFailure(boost::beast::error_code error) {
    if (error == http::error::body_limit) {
      const char* const flags = most_body_ != kMaxSmall ? " (--max-body; --max-json without tensors as bytes)" : "";
      return ErrorResponse(
          http::status::payload_too_large,
          fmt::format("the body is larger than {} bytes, the limit of this request{}", most_body_, flags));
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
  asio::awaitable<Response> Answer(Exchange& exchange) {
    const Answering answering(shared_->n_answering);
    try {
      co_return co_await shared_->route.answer(exchange);
    } catch (const Failure& failure) {
      co_return ToResponse(failure);
    } catch (const std::bad_alloc&) {
      co_return ErrorResponse(http::status::service_unavailable, "the server is out of memory");
    } catch (const std::exception& error) {
      LogError(("a request failed: " + std::string(error.what())).c_str());
      co_return ErrorResponse(http::status::internal_server_error, error.what());
    }
  }
  // `header` is the request's. Returns whether everything was written.
  asio::awaitable<bool> Write(const Header& header, Response response, bool keep_alive) {
    ResponseWriter writer(stream_, shared_->options.slow);
    const bool is_written = co_await writer.Write(header, std::move(response), keep_alive);
    bytes_out_ = writer.bytes();
    is_broken_ = writer.is_broken();
    co_return is_written;
  }
  void Shape(const Header& header, Response& response) const {
    if (!response.error.empty() && shared_->route.shape_error != nullptr) shared_->route.shape_error(header, response);
  }
  asio::awaitable<void> Discard() {
    co_await stream_.EndWriting(kEnding);
    stream_.tcp().expires_after(kDiscarding);
    for (size_t taken = 0; taken < kMaxDiscarded;) {
      buffer_.clear();
      const auto [error, bytes] = co_await stream_.tcp().async_read_some(buffer_.prepare(buffer_.max_size()), kAwait);
      if (error) co_return;
      taken += bytes;
    }
  }
  Ends FindEnds() {
    boost::system::error_code ignored;  // a disconnected client is at 0.0.0.0
    return {stream_.tcp().socket().remote_endpoint(ignored), stream_.tcp().socket().local_endpoint(ignored),
            stream_.is_secure()};
  }
  // Counts it, and writes it to the access log, if there is one.
  void Log(const Header& header, About about, std::optional<http::status> status, bool is_complete,
           const Generation* generation = nullptr) noexcept {
    AccessLog* const log = shared_->options.access_log.get();
    try {
      if (shared_->route.count != nullptr) shared_->route.count(header, about, generation, status);
      if (log == nullptr) return;
      const auto duration =
          std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begun_);
      const auto client = FindEnds().client;
      AccessRecord record{.time = std::chrono::system_clock::now() - duration,
                          .peer = fmt::format("{}", fmt::streamed(client)),
                          .protocol = fmt::format("HTTP/{}.{}", header.version() / 10, header.version() % 10),
                          .method = Bounded(AsText(header.method_string()), kMaxLogged),
                          .target = Bounded(AsText(header.target()), kMaxTarget),
                          .is_complete = is_complete,
                          .bytes_in = bytes_in_,
                          .bytes_out = bytes_out_,
                          .duration = duration,
                          .about = std::move(about),
                          .user_agent = Bounded(AsText(header[http::field::user_agent]), kMaxLogged)};
      if (status) record.status = static_cast<int>(*status);
      log->Add(std::move(record));
    } catch (const std::exception&) {  // no memory
      if (log != nullptr) log->AddDropped();
    }
  }
  std::shared_ptr<Cancellation> Watch() {
    watched_ = std::make_shared<Cancellation>();
    LookWhetherGone();
    return watched_;
  }
  void LookWhetherGone() {
    watch_timer_.expires_after(kLookAgain);
    watch_timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (error || self->watched_ == nullptr) return;
      if (!HasHungUp(self->stream_.tcp().socket().native_handle())) return self->LookWhetherGone();
      self->watched_->Cancel();
    });
  }
  void StopWatching() {
    if (watched_ == nullptr) return;
    watched_.reset();
    watch_timer_.cancel();
  }

  const std::shared_ptr<HttpShared> shared_;
  HttpStream stream_;
  // For whole headers, chunk extensions and trailers, and for pieces of bodies. It stays, and is not charged.
  boost::beast::flat_buffer buffer_{shared_->options.max_header_bytes};
  Admission admission_;  // of the current request
  uint64_t most_body_ = 0;
  bool is_gone_ = false;
  bool is_idle_ = true;
  bool is_broken_ = false;                       // the end of an answer would be the connection's
  std::chrono::steady_clock::time_point begun_;  // when the request's header had come
  uint64_t bytes_in_ = 0, bytes_out_ = 0;        // of the request, and of its response
  asio::steady_timer watch_timer_;
  std::shared_ptr<Cancellation> watched_;  // for the request that is being answered, once that takes long
};

void HttpServer::Take(int descriptor) {
  base::Descriptor unclaimed(descriptor);
  const HttpOptions& options = shared_->options;
  // One connection too many is closed, and its client may try again.
  if (connections() >= options.max_connections || descriptor >= options.max_descriptor) return;
  asio::ip::tcp::socket socket(asio::make_strand(context_));
  socket.assign(ProtocolOf(descriptor), descriptor);
  (void)unclaimed.Release();
  const std::shared_ptr<HttpSession> session = HttpSession::Make(shared_, std::move(socket));
  asio::co_spawn(session->executor(), HttpSession::Run(session), [](std::exception_ptr thrown) {
    if (thrown != nullptr) LogError("a connection ended: out of memory");
  });
}

void HttpServer::Drain() {
  shared_->is_draining.store(true, std::memory_order_relaxed);
  std::vector<std::shared_ptr<HttpSession>> sessions;
  {
    const std::lock_guard lock(shared_->mutex);
    for (const auto& [session, weak] : shared_->sessions) {
      if (auto lives = weak.lock()) sessions.push_back(std::move(lives));
    }
  }
  for (const std::shared_ptr<HttpSession>& session : sessions) session->CloseIfIdle();
}

}  // namespace wasinn::serve
