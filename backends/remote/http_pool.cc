#include "remote/http_pool.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <new>
#include <utility>

namespace wasinn::remote {

namespace asio = boost::asio;

namespace {

// Python servers close a connection after 5 idle seconds. A call that uses it just then would be lost.
constexpr std::chrono::seconds kIdleTime{4};
constexpr size_t kMaxIdle = 64;

}  // namespace

HttpPool::HttpPool(asio::io_context& context, const std::string& endpoint, const ConnectionConfig& config)
    : context_(context),
      server_(endpoint),
      name_(config.server_name.empty() ? server_.host : config.server_name),
      connect_timeout_(config.connect_timeout),
      most_(config.max_connections),
      sweep_(context) {
  if (config.is_secure) tls_.emplace(MakeClientTls(config));
}

asio::awaitable<void> HttpPool::Enter(Place& place) {
  while (!idle_.empty() && place.stream == nullptr) {
    place.stream = std::move(idle_.back().stream);
    idle_.pop_back();
    if (!place.stream->IsReusable()) place.stream.reset();
    if (place.stream == nullptr) --open_;
  }
  place.is_counted = place.stream != nullptr || open_ < most_;
  if (place.is_counted && place.stream == nullptr) ++open_;
  if (place.is_counted || place.is_check) co_return;
  waiting_.push_back(&place);
  place.woken.expires_at(Clock::time_point::max());
  co_await place.woken.async_wait(asio::as_tuple(asio::use_awaitable));
  waiting_.remove(&place);
}

// Bytes after the answer, or an end, would be taken for the next call's answer.
void HttpPool::Leave(Place& place) {
  std::unique_ptr<HttpStream> stream = std::move(place.stream);
  if (stream != nullptr && (is_closed_ || !stream->IsReusable())) stream.reset();
  if (!place.is_counted && (stream == nullptr || open_ >= most_)) return;
  if (!place.is_counted) ++open_;
  place.is_counted = false;
  if (!waiting_.empty()) {
    Place& next = *waiting_.front();
    waiting_.pop_front();
    next.stream = std::move(stream);
    next.is_counted = true;
    next.woken.cancel();
    return;
  }
  if (stream != nullptr) return KeepIdle(std::move(stream));
  --open_;
}

void HttpPool::KeepIdle(std::unique_ptr<HttpStream> stream) {
  try {
    idle_.push_back({std::move(stream), Clock::now() + kIdleTime});
  } catch (const std::bad_alloc&) {  // the stream is gone
    --open_;
    return;
  }
  if (idle_.size() > kMaxIdle) {
    idle_.pop_front();
    --open_;
  }
  if (idle_.size() != 1) return;
  try {
    Sweep();
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): idle until it is taken or swept with others
  }
}

void HttpPool::Close() {
  is_closed_ = true;
  open_ -= idle_.size();
  idle_.clear();
  sweep_.cancel();
}

// The front has been idle longest.
void HttpPool::Sweep() {
  const Clock::time_point now = Clock::now();
  while (!idle_.empty() && idle_.front().until <= now) {
    idle_.pop_front();
    --open_;
  }
  if (idle_.empty()) return;
  sweep_.expires_at(idle_.front().until);
  sweep_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
    const auto self = weak.lock();
    if (!error && self != nullptr) self->Sweep();
  });
}

}  // namespace wasinn::remote
