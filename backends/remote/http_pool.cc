#include "remote/http_pool.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <new>
#include <utility>

namespace wasinn::remote {

namespace asio = boost::asio;

namespace {

// Servers in Python end a connection that rested for 5 seconds. One that is used just then would be lost.
constexpr std::chrono::seconds kRest{4};
constexpr size_t kMostResting = 64;

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
  while (!resting_.empty() && place.stream == nullptr) {
    place.stream = std::move(resting_.back().stream);
    resting_.pop_back();
    if (!place.stream->IsQuiet()) place.stream.reset();
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

// What has come beside the answer, or an end, would be the next call's answer.
void HttpPool::Leave(Place& place) {
  std::unique_ptr<HttpStream> stream = std::move(place.stream);
  if (stream != nullptr && (is_closed_ || !stream->IsQuiet())) stream.reset();
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
  if (stream != nullptr) return Rest(std::move(stream));
  --open_;
}

void HttpPool::Rest(std::unique_ptr<HttpStream> stream) {
  try {
    resting_.push_back({std::move(stream), Clock::now() + kRest});
  } catch (const std::bad_alloc&) {  // it has gone
    --open_;
    return;
  }
  if (resting_.size() > kMostResting) {
    resting_.pop_front();
    --open_;
  }
  if (resting_.size() != 1) return;
  try {
    Sweep();
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): it rests until it is taken or swept with others
  }
}

void HttpPool::Close() {
  is_closed_ = true;
  open_ -= resting_.size();
  resting_.clear();
  sweep_.cancel();
}

// The first that rests is the one that rests longest.
void HttpPool::Sweep() {
  const Clock::time_point now = Clock::now();
  while (!resting_.empty() && resting_.front().until <= now) {
    resting_.pop_front();
    --open_;
  }
  if (resting_.empty()) return;
  sweep_.expires_at(resting_.front().until);
  sweep_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
    const auto self = weak.lock();
    if (!error && self != nullptr) self->Sweep();
  });
}

}  // namespace wasinn::remote
