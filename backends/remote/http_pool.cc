#include "remote/http_pool.h"

#include <algorithm>
#include <new>
#include <utility>

#include "remote/http_dial.h"

namespace wasinn::remote {

namespace asio = boost::asio;

namespace {

// Servers in Python end a connection that rested for 5 seconds. One that is used just then would be lost.
constexpr std::chrono::seconds kRest{4};
constexpr size_t kMostResting = 64;

// "[::1]:80" without brackets.
std::string HostOf(const std::string& endpoint) {
  std::string host = endpoint.substr(0, endpoint.rfind(':'));
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  return host;
}

}  // namespace

HttpPool::HttpPool(asio::io_context& context, const std::string& endpoint, const ConnectionConfig& config)
    : context_(context),
      host_(HostOf(endpoint)),
      port_(endpoint.substr(endpoint.rfind(':') + 1)),
      name_(config.server_name.empty() ? host_ : config.server_name),
      connect_timeout_(config.connect_timeout),
      most_(config.max_connections),
      sweep_(context) {
  if (config.is_secure) tls_.emplace(MakeClientTls(config));
}

void HttpPool::Take(std::shared_ptr<HttpTaker> taker, bool is_check) {
  while (!resting_.empty()) {
    std::unique_ptr<HttpStream> stream = std::move(resting_.back().stream);
    resting_.pop_back();
    if (stream->IsQuiet()) return taker->OnStream(std::move(stream));
    --open_;
  }
  (is_check ? checks_ : calls_).push_back(std::move(taker));
  DialForThoseWhoWait();
}

void HttpPool::Forget(HttpTaker& taker) {
  for (Takers* some : {&checks_, &calls_}) {
    std::erase_if(*some, [&](const auto& one) { return one.get() == &taker; });
  }
}

std::shared_ptr<HttpTaker> HttpPool::Next() { return FirstOf(checks_.empty() ? calls_ : checks_); }

// NULL: nobody waits.
std::shared_ptr<HttpTaker> HttpPool::FirstOf(Takers& some) {
  if (some.empty()) return nullptr;
  std::shared_ptr<HttpTaker> next = std::move(some.front());
  some.pop_front();
  return next;
}

// What has come beside the answer, or an end, would be the next call's answer.
void HttpPool::GiveBack(std::unique_ptr<HttpStream> stream) {
  if (stream != nullptr && !stream->IsQuiet()) stream.reset();
  Pass(std::move(stream));
}

void HttpPool::Pass(std::unique_ptr<HttpStream> stream) {
  const bool is_one_too_many = open_ > most_ && checks_.empty();  // which a check had
  if (is_closed_ || is_one_too_many) stream.reset();
  if (stream == nullptr) {
    --open_;
    return DialForThoseWhoWait();
  }
  if (const std::shared_ptr<HttpTaker> next = Next()) return next->OnStream(std::move(stream));
  Rest(std::move(stream));
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

bool HttpPool::NeedsAnother() const {
  return dialing_ < checks_.size() || (dialing_ < checks_.size() + calls_.size() && open_ < most_);
}

void HttpPool::DialForThoseWhoWait() {
  while (NeedsAnother()) {
    if (Dial()) continue;
    if (const std::shared_ptr<HttpTaker> next = Next()) next->OnNoStream(kNoMemory);
  }
}

// False: there is no memory for it.
bool HttpPool::Dial() {
  try {
    const auto dial = std::make_shared<HttpDial>(shared_from_this());
    dial->Begin();  // which tells nothing before it returns
  } catch (const std::bad_alloc&) {
    return false;
  }
  ++open_;
  ++dialing_;
  return true;
}

// A new one may have something already: a session's ticket, or an answer of a server that wants no request.
void HttpPool::OnDialed(std::unique_ptr<HttpStream> stream, const std::string& why) {
  --dialing_;
  if (stream != nullptr) return Pass(std::move(stream));
  --open_;
  // A call first: it can go to another server, and a check has its own deadline.
  const std::shared_ptr<HttpTaker> next = FirstOf(calls_.empty() ? checks_ : calls_);
  DialForThoseWhoWait();
  if (next != nullptr) next->OnNoStream(why);
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
