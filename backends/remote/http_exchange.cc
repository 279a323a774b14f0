#include "remote/http_exchange.h"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "remote/http_failures.h"
#include "remote/http_status.h"

namespace wasinn::remote {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

namespace {

constexpr char kNoMemory[] = "no memory";  // a text this short needs no memory
constexpr uint32_t kMostHead = 32 << 10;
// Interim answers before the final one, such as 100.
constexpr int kMostInterim = 8;

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
  Reply reply{.status = StatusOf(answer.result_int(), {answer.body().data(), answer.body().size()}),
              .message = {},
              .was_answer = true,
              .headers = HeadersOf(parser)};
  const auto encoding = AsText(answer[http::field::content_encoding]);
  if (reply.status.ok() && !encoding.empty() && encoding != "identity") {
    reply.status = {grpc::INTERNAL, "the server's answer is compressed, although identity was requested"};
  }
  reply.message = answer.body().Take();
  return reply;
}

}  // namespace

HttpExchange::HttpExchange(std::shared_ptr<HttpPool> pool, asio::thread_pool& readers, std::string head,
                           const Request& request, Deadline deadline, uint64_t most)
    : pool_(std::move(pool)),
      readers_(readers),
      head_(std::move(head)),
      request_(request),
      deadline_(deadline),
      most_(most),
      timer_(pool_->context()),
      place_(pool_->context(), request.is_check) {}

void HttpExchange::Start(Done done) {
  has_reader_ = true;
  Post(std::move(done));
}

void HttpExchange::Post(Done done) {
  done_ = std::move(done);
  asio::post(pool_->context(), [self = shared_from_this()] {
    try {
      self->Begin();
    } catch (const std::bad_alloc&) {
      self->End({.status = {grpc::RESOURCE_EXHAUSTED, kNoMemory}, .message = {}, .was_sent = false});
    }
  });
}

Reply HttpExchange::Wait() {
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

void HttpExchange::Cancel() {
  asio::post(pool_->context(), [self = shared_from_this()] { self->Abort(grpc::CANCELLED, "the call was cancelled"); });
}

void HttpExchange::Begin() {
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

void HttpExchange::Abort(grpc::StatusCode code, const char* words) {
  if (aborted_) return;
  aborted_ = MakeStatus(code, words);
  place_.woken.cancel();
  if (link_ != nullptr) link_->Close();
}

asio::awaitable<Reply> HttpExchange::Run() {
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

asio::awaitable<Reply> HttpExchange::Talk() {
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

asio::awaitable<error_code> HttpExchange::ReadAnswer(std::optional<HttpParser>& parser) {
  for (int i = 0; i < kMostInterim; ++i) {
    parser.emplace();
    parser->header_limit(kMostHead);
    parser->body_limit(most_);
    parser->get().body().Limit(most_, request_.charge);
    const error_code error = co_await link_->stream().Read(*parser);
    if (error || parser->get().result_int() >= 200) co_return error;
  }
  co_return http::error::bad_status;
}

// Closes the connection, so that the rest of this answer is not taken for the next one.
Reply HttpExchange::Failed(const error_code& error, bool has_begun) {
  const FailedExchange failed{
      .error = error, .is_secure = link_->stream().is_secure(), .has_answered = link_->stream().has_answered()};
  Reply reply{.status = {grpc::UNAVAILABLE, ""}, .message = {}, .was_sent = has_begun};
  if (aborted_) {
    reply.status = *aborted_;
  } else if (error == http::error::body_limit) {
    reply.status = {grpc::RESOURCE_EXHAUSTED,
                    fmt::format("the answer is larger than max_message_bytes allows: {}", most_)};
  } else if (error == asio::error::no_memory) {
    reply.status = {grpc::RESOURCE_EXHAUSTED, "there is no memory for the answer"};
  } else {
    reply.status = {IsNoHttp(error) ? grpc::INTERNAL : grpc::UNAVAILABLE, WordsOfExchange(failed)};
  }
  return reply;
}

void HttpExchange::End(Reply reply) {
  timer_.cancel();
  reply_ = std::move(reply);
  if (!has_reader_) return CallDone();
  try {
    asio::post(readers_, [self = shared_from_this()] { self->CallDone(); });
  } catch (const std::bad_alloc&) {
    CallDone();
  }
}

void HttpExchange::CallDone() { std::exchange(done_, nullptr)(std::move(reply_)); }

}  // namespace wasinn::remote
