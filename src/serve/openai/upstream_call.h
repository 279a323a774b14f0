// A request that is passed on to a model's server, and its answer as it comes. Nothing more is read from the server while the client reads nothing.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "remote/http_link.h"
#include "serve/http/body_source.h"
#include "serve/http/http_message.h"
#include "serve/http/http_server.h"
#include "serve/models/upstream.h"
#include "serve/tenants/memory_budget.h"
#include "serve/threads/cancellation.h"

namespace wasinn::serve::openai {

// On the request's own strand, and no thread while it waits.
class UpstreamCall final : public BodySource {
 public:
  // What it holds of an answer.
  static constexpr uint64_t kBytes = 128u << 10;

  struct Options {
    asio::io_context& context;
    std::chrono::milliseconds patience;  // for the answer's head, and for each piece; 0: any time
    std::shared_ptr<Cancellation> cancellation;
    Charge charge;
  };
  struct Request {
    std::string_view path;                      // "chat/completions"
    std::array<std::string_view, 3> body = {};  // one after the other; in use until Send is done
    std::string trace;                          // of the header `traceparent`
  };

  UpstreamCall(Options options, Upstream::Place place, std::shared_ptr<Upstream> upstream);

  // Once, and first: until the answer's head is there, at the first server that can be reached. UNAVAILABLE: there is none; LOST: it was, and
  // gave no answer; TIMEOUT.
  asio::awaitable<Outcome<void>> Send(const Request& request);
  unsigned status() const { return parser_->get().result_int(); }
  std::string Field(http::field name) const { return std::string(AsText(parser_->get()[name])); }
  // To be called when the first piece is there.
  void OnFirst(std::function<void()> call) { on_first_ = std::move(call); }
  // The server let nobody in.
  void TellRefused() { upstream_->TellRefused(server_, status()); }

  asio::awaitable<std::optional<std::string>> Next() override;
  asio::awaitable<void> End() override;

 private:
  enum class Sent { kYes, kNever, kLost };

  // Why there is no connection; "": there is one.
  asio::awaitable<std::string> Connect();
  asio::awaitable<Sent> Talk(const Request& request);
  asio::awaitable<boost::system::error_code> ReadHead();
  // Whatever became of the server's connection: it is not worth a word if the client has gone, or if its time was over.
  void TellLost(const boost::system::error_code& error);
  remote::HttpLink::Clock::time_point Patience() const;
  bool is_gone() const { return cancellation_ != nullptr && cancellation_->is_cancelled(); }

  asio::io_context& context_;
  const std::chrono::milliseconds patience_;
  Charge charge_;
  const std::shared_ptr<Upstream> upstream_;
  std::optional<Upstream::Place> place_;
  size_t server_ = 0;
  std::shared_ptr<remote::HttpLink> link_;
  std::optional<http::response_parser<http::buffer_body>> parser_;
  std::unique_ptr<char[]> piece_;
  std::function<void()> on_first_;
  const std::shared_ptr<Cancellation> cancellation_;
  std::optional<Cancellation::Stop> stop_;  // goes first
};

}  // namespace wasinn::serve::openai
