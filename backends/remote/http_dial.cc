#include "remote/http_dial.h"

#include <fmt/format.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>
#include <exception>
#include <new>
#include <utility>

#include "remote/http_failures.h"

namespace wasinn::remote {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

HttpDial::HttpDial(std::shared_ptr<HttpPool> pool)
    : pool_(std::move(pool)),
      resolver_(pool_->context_),
      timer_(pool_->context_, pool_->connect_timeout_),
      stream_(std::make_unique<HttpStream>(pool_->context_.get_executor(), pool_->tls_ ? &*pool_->tls_ : nullptr)) {}

void HttpDial::Begin() {
  // It may be in the loop's queue already when the connection is made, and then comes after its end.
  timer_.async_wait([self = shared_from_this()](error_code error) {
    if (error || self->is_told_) return;
    self->stream_->Close();
    self->TellWhy([&] { return fmt::format("failed to connect within {} ms", self->pool_->connect_timeout_.count()); });
  });
  try {
    asio::co_spawn(pool_->context_, Run(),
                   [self = shared_from_this()](const std::exception_ptr& thrown, error_code error) {
                     self->timer_.cancel();
                     if (thrown != nullptr) return self->Tell(kNoMemory);
                     if (!error) return self->Tell("");
                     self->TellWhy([&] { return self->WhyNot(error); });
                   });
  } catch (...) {
    is_told_ = true;  // by what is thrown
    timer_.cancel();
    throw;
  }
}

asio::awaitable<error_code> HttpDial::Run() {
  HttpStream::Addresses addresses;
  const error_code error = co_await Resolve(&addresses);
  if (error || is_told_) co_return error;
  co_return co_await stream_->Connect(addresses, pool_->name_);
}

asio::awaitable<error_code> HttpDial::Resolve(HttpStream::Addresses* addresses) {
  error_code no_address;
  const asio::ip::address address = asio::ip::make_address(pool_->host_, no_address);
  if (!no_address) {
    uint16_t port = 0;
    std::from_chars(pool_->port_.data(), pool_->port_.data() + pool_->port_.size(), port);
    addresses->emplace_back(address, port);
    co_return error_code();
  }
  const auto [error, found] = co_await resolver_.async_resolve(
      pool_->host_, pool_->port_, tcp::resolver::numeric_service, asio::as_tuple(asio::use_awaitable));
  for (const auto& one : found) addresses->push_back(one.endpoint());
  co_return error;
}

void HttpDial::TellWhy(const std::function<std::string()>& words) {
  try {
    Tell(words());
  } catch (const std::bad_alloc&) {  // else nobody would be told
    Tell(kNoMemory);
  }
}

std::string HttpDial::WhyNot(const error_code& error) const {
  if (stream_ == nullptr) return "failed to connect: " + error.message();  // its time was over before
  return WordsOfConnect(error, stream_->verify_result(), pool_->name_);
}

void HttpDial::Tell(const std::string& why) {
  if (std::exchange(is_told_, true)) return;
  pool_->OnDialed(why.empty() ? std::move(stream_) : nullptr, why);
}

}  // namespace wasinn::remote
