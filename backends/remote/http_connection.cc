#include "remote/http_connection.h"

#include <fmt/format.h>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/parser.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "remote/exchange.h"
#include "remote/http_body.h"
#include "remote/http_pool.h"
#include "remote/http_stream.h"

namespace wasinn::remote {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

namespace {

// Calls `charge`, which may be empty, with the bytes so far.
class BodyCharge {
 public:
  BodyCharge() = default;
  explicit BodyCharge(Charge charge) : charge_(std::move(charge)) {}

  bool Add(uint64_t bytes) {
    bytes_ += bytes;
    return charge_ == nullptr || charge_(bytes_);
  }

 private:
  Charge charge_;
  uint64_t bytes_ = 0;
};

using HttpParser = http::response_parser<HttpBody<BodyCharge>>;

constexpr char kNoMemory[] = "no memory";  // a text this short needs no memory
constexpr uint32_t kMaxHead = 32 << 10;
// Interim answers before the final one, such as 100.
constexpr int kMaxInterim = 8;

// Without memory the message is empty, because the waiting caller must get a status.
grpc::Status MakeStatus(grpc::StatusCode code, const std::string_view words) {
  try {
    return {code, std::string(words)};
  } catch (const std::bad_alloc&) {
    return {code, ""};
  }
}

std::string_view AsText(boost::beast::string_view text) { return {text.data(), text.size()}; }

Headers HeadersOf(const HttpParser& parser) {
  Headers headers;
  for (const auto& field : parser.get()) {
    std::string name(AsText(field.name_string()));
    for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    headers.emplace_back(std::move(name), AsText(field.value()));
  }
  return headers;
}

Reply ReplyOf(HttpParser& parser) {
  auto& answer = parser.get();
  Reply reply{.status = StatusOf(answer.result_int(), answer.body().view()),
              .message = {},
              .was_answer = true,
              .headers = HeadersOf(parser)};
  const auto encoding = AsText(answer[http::field::content_encoding]);
  if (reply.status.ok() && !encoding.empty() && encoding != "identity") {
    reply.status = {grpc::INTERNAL, "the server's answer is compressed, although identity was requested"};
  }
  const size_t size = answer.body().size();
  char* const bytes = answer.body().Release();
  const grpc::Slice slice = bytes == nullptr ? grpc::Slice() : grpc::Slice(bytes, size, std::free);
  reply.message = {&slice, 1};
  return reply;
}

// Everything except Start, Wait and Cancel runs on the loop's thread. A reader thread calls Start's `done`: handling an
// answer may take long, and all connections need the loop.
class HttpExchange final : public Exchange, public std::enable_shared_from_this<HttpExchange> {
 public:
  // `head`: everything before the body. `most`: the limit of an answer's body in bytes.
  HttpExchange(std::shared_ptr<HttpPool> pool, asio::thread_pool& readers, std::string head, const Request& request,
               Deadline deadline, uint64_t most)
      : pool_(std::move(pool)),
        readers_(readers),
        head_(std::move(head)),
        request_(request),
        deadline_(deadline),
        most_(most),
        timer_(pool_->context()),
        place_(pool_->context(), request.is_check) {}

  void Start(Done done) override {
    has_reader_ = true;
    Post(std::move(done));
  }
  Reply Wait() override {
    std::mutex mutex;
    std::condition_variable ended;
    Reply reply;
    bool has_ended = false;
    Post([&](Reply one) {
      const std::lock_guard lock(mutex);
      reply = std::move(one);
      has_ended = true;
      ended.notify_one();  // under the lock, because the waiter destroys both once it is free
    });
    std::unique_lock lock(mutex);
    ended.wait(lock, [&] { return has_ended; });
    return reply;
  }
  void Cancel() override {
    asio::post(pool_->context(),
               [self = shared_from_this()] { self->Abort(grpc::CANCELLED, "the call was cancelled"); });
  }

 private:
  void Post(Done done) {
    done_ = std::move(done);
    asio::post(pool_->context(), [self = shared_from_this()] {
      try {
        self->Begin();
      } catch (const std::bad_alloc&) {
        self->End({.status = {grpc::RESOURCE_EXHAUSTED, kNoMemory}, .message = {}, .was_sent = false});
      }
    });
  }

  void Begin() {
    if (aborted_) return End({.status = *std::move(aborted_), .message = {}, .was_sent = false});
    if (deadline_) {
      timer_.expires_after(
          std::chrono::duration_cast<asio::steady_timer::duration>(*deadline_ - std::chrono::system_clock::now()));
      timer_.async_wait([self = shared_from_this()](error_code error) {
        if (!error) self->Abort(grpc::DEADLINE_EXCEEDED, "Deadline Exceeded");
      });
    }
    asio::co_spawn(pool_->context(), Run(), [self = shared_from_this()](const std::exception_ptr& thrown, Reply reply) {
      if (thrown != nullptr) reply.status = {grpc::RESOURCE_EXHAUSTED, kNoMemory};
      if (thrown != nullptr || self->aborted_) self->place_.stream.reset();
      self->link_.reset();
      self->pool_->Leave(self->place_);
      self->End(std::move(reply));
    });
  }

  // Called before the exchange has an answer.
  void Abort(grpc::StatusCode code, const char* words) {
    if (aborted_) return;
    aborted_ = MakeStatus(code, words);
    place_.woken.cancel();
    if (link_ != nullptr) link_->Close();
  }

  asio::awaitable<Reply> Run() {
    std::string why;
    if (!aborted_) co_await pool_->Enter(place_);
    if (!aborted_) {
      const bool is_new = place_.stream == nullptr;
      const auto executor = pool_->context().get_executor();
      link_ = std::make_shared<HttpLink>(
          executor, is_new ? std::make_unique<HttpStream>(executor, pool_->tls()) : std::move(place_.stream));
      if (is_new) why = co_await link_->Connect(pool_->server(), pool_->name(), pool_->connect_timeout());
      link_->ClearDeadline();
    }
    if (aborted_) co_return Reply{.status = *aborted_, .message = {}, .was_sent = false};
    if (!why.empty()) co_return Reply{.status = MakeStatus(grpc::UNAVAILABLE, why), .message = {}, .was_sent = false};
    co_return co_await Talk();
  }

  asio::awaitable<Reply> Talk() {
    std::vector<grpc::Slice> slices;
    std::vector<asio::const_buffer> buffers{asio::buffer(head_)};
    if (request_.body->Valid()) (void)request_.body->Dump(&slices);
    for (const grpc::Slice& slice : slices) buffers.emplace_back(slice.begin(), slice.size());
    const HttpStream::Ended written = co_await link_->stream().Write(buffers);
    // A server may answer before it has read everything, and close the connection.
    const bool has_begun = written.bytes > 0 || link_->stream().is_secure();
    if (written.error && !has_begun) co_return Failed(written.error, false);
    std::optional<HttpParser> parser;
    const error_code error = co_await ReadAnswer(parser);
    if (error || !parser) co_return Failed(written.error ? written.error : error, true);
    const bool can_reuse =
        !written.error && parser->get().keep_alive() && !parser->need_eof() && !link_->stream().has_more();
    if (can_reuse) place_.stream = link_->Take();
    co_return ReplyOf(*parser);
  }

  asio::awaitable<error_code> ReadAnswer(std::optional<HttpParser>& parser) {
    for (int i = 0; i < kMaxInterim; ++i) {
      parser.emplace();
      parser->header_limit(kMaxHead);
      parser->body_limit(most_);
      parser->get().body() = HttpBytes(BodyCharge(request_.charge));
      const error_code error = co_await link_->stream().Read(*parser);
      if (error || parser->get().result_int() >= 200) co_return error;
    }
    co_return http::error::bad_status;
  }

  // Closes the connection, so that the rest of this answer is not taken for the next one.
  Reply Failed(const error_code& error, bool has_begun) {
    const FailedExchange failed{
        .error = error, .is_secure = link_->stream().is_secure(), .has_answered = link_->stream().has_answered()};
    Reply reply{.status = {grpc::UNAVAILABLE, ""}, .message = {}, .was_sent = has_begun};
    if (aborted_) {
      reply.status = *aborted_;
    } else if (error == http::error::body_limit) {
      reply.status = {grpc::RESOURCE_EXHAUSTED,
                      fmt::format("the answer is larger than max_message_bytes allows: {}", most_)};
    } else if (error == boost::system::errc::not_enough_memory) {
      reply.status = {grpc::RESOURCE_EXHAUSTED, "there is no memory for the answer"};
    } else {
      reply.status = {IsNoHttp(error) ? grpc::INTERNAL : grpc::UNAVAILABLE, WordsOfExchange(failed)};
    }
    return reply;
  }

  void End(Reply reply) {
    timer_.cancel();
    reply_ = std::move(reply);
    if (!has_reader_) return CallDone();
    try {
      asio::post(readers_, [self = shared_from_this()] { self->CallDone(); });
    } catch (const std::bad_alloc&) {
      CallDone();
    }
  }

  void CallDone() { std::exchange(done_, nullptr)(std::move(reply_)); }

  const std::shared_ptr<HttpPool> pool_;
  asio::thread_pool& readers_;
  const std::string head_;
  const Request& request_;
  const Deadline deadline_;
  const uint64_t most_;
  asio::steady_timer timer_;
  Done done_;
  bool has_reader_ = false;
  HttpPool::Place place_;
  std::shared_ptr<HttpLink> link_;
  std::optional<grpc::Status> aborted_;
  Reply reply_;
};

class HttpConnection final : public Connection {
 public:
  HttpConnection(HttpLoop& loop, const std::string& endpoint, const ConnectionConfig& config)
      : Connection(endpoint),
        loop_(loop),
        pool_(std::make_shared<HttpPool>(loop.context(), endpoint, config)),
        most_(config.max_message_bytes) {}
  ~HttpConnection() override {
    asio::post(pool_->context(), [pool = pool_] { pool->Close(); });
  }
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  std::shared_ptr<Exchange> NewExchange(const Request& request, const Headers& headers, Deadline deadline) override {
    const auto length = request.has_body ? std::optional<uint64_t>(request.body.Length()) : std::nullopt;
    std::string head = HeadOf(endpoint(), request.path, length, {&request.headers, &headers});
    return std::make_shared<HttpExchange>(pool_, loop_.readers(), std::move(head), request, deadline, most_);
  }

 private:
  HttpLoop& loop_;
  const std::shared_ptr<HttpPool> pool_;
  const uint64_t most_;
};

}  // namespace

std::shared_ptr<Connection> MakeHttpConnection(HttpLoop& loop, const std::string& endpoint,
                                               const ConnectionConfig& config) {
  return std::make_shared<HttpConnection>(loop, endpoint, config);
}

HttpLoop::HttpLoop() : work_(asio::make_work_guard(context_)), thread_([this] { Run(); }) {}

HttpLoop::~HttpLoop() {
  context_.stop();
  thread_.join();
  readers_.join();  // a reader may be the last to drop an exchange
}

void HttpLoop::Run() {
  for (;;) {
    try {
      context_.run();
      return;
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): a handler failed; the others continue
    }
  }
}

}  // namespace wasinn::remote
