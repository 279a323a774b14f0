#include "remote/http_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/error.h"
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

asio::ssl::context MakeTls(const ConnectionConfig& config) {
  asio::ssl::context tls(asio::ssl::context::tls_client);
  const auto buffer = [](const std::string& text) { return asio::buffer(text.data(), text.size()); };
  try {
    tls.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                    asio::ssl::context::no_tlsv1_1);
    tls.set_verify_mode(asio::ssl::verify_peer);
    if (config.ca.empty()) {
      tls.set_default_verify_paths();
    } else {
      tls.add_certificate_authority(buffer(config.ca));
    }
    if (!config.certificate.empty()) {
      tls.use_certificate_chain(buffer(config.certificate));
      tls.use_private_key(buffer(config.key), asio::ssl::context::pem);
    }
  } catch (const boost::system::system_error& error) {
    throw backend::Error(WASINN_INVALID_ARGUMENT, fmt::format("keys 'ca', 'cert' and 'key': {}", error.what()));
  }
  return tls;
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
  if (config.is_secure) tls_.emplace(MakeTls(config));
}

void HttpPool::Take(std::shared_ptr<HttpTaker> taker) {
  while (!resting_.empty()) {
    std::unique_ptr<HttpStream> stream = std::move(resting_.back().stream);
    resting_.pop_back();
    if (stream->IsQuiet()) return taker->OnStream(std::move(stream));
    --open_;
  }
  waiting_.push_back(std::move(taker));
  DialForThoseWhoWait();
}

void HttpPool::Forget(HttpTaker& taker) {
  std::erase_if(waiting_, [&](const auto& one) { return one.get() == &taker; });
}

void HttpPool::GiveBack(std::unique_ptr<HttpStream> stream) {
  if (stream == nullptr || is_closed_) {
    --open_;
    return DialForThoseWhoWait();
  }
  if (!waiting_.empty()) {
    const std::shared_ptr<HttpTaker> next = std::move(waiting_.front());
    waiting_.pop_front();
    return next->OnStream(std::move(stream));
  }
  resting_.push_back({std::move(stream), Clock::now() + kRest});
  if (resting_.size() > kMostResting) {
    resting_.pop_front();
    --open_;
  }
  if (resting_.size() == 1) Sweep();
}

void HttpPool::Close() {
  is_closed_ = true;
  open_ -= resting_.size();
  resting_.clear();
  sweep_.cancel();
}

void HttpPool::DialForThoseWhoWait() {
  while (dialing_ < waiting_.size() && open_ < most_) {
    const auto dial = std::make_shared<HttpDial>(shared_from_this());
    ++open_;
    ++dialing_;
    dial->Begin();
  }
}

void HttpPool::OnDialed(std::unique_ptr<HttpStream> stream, const std::string& why) {
  --dialing_;
  if (stream != nullptr) return GiveBack(std::move(stream));
  --open_;
  std::shared_ptr<HttpTaker> next;
  if (!waiting_.empty()) {
    next = std::move(waiting_.front());
    waiting_.pop_front();
  }
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
