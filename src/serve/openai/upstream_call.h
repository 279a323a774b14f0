// A request that is passed on to a model server, and its answer. Reads from the server as fast as the client reads.
#pragma once

#include <simdjson.h>
#include <boost/asio/io_context.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "remote/http_stream.h"
#include "serve/http/http_message.h"
#include "serve/http/http_server.h"
#include "serve/models/upstream.h"
#include "serve/tenants/memory_budget.h"
#include "serve/threads/cancellation.h"

namespace wasinn::serve::openai {

// Reads a request that is passed on to a model's server, and writes its body for that server.
struct PassedRequest {
  std::string model;  // from the client; "": none
  // The index of the body's member `model`; no value: there is none. `is_empty`: the body has no members.
  std::optional<size_t> member;
  bool is_empty = false;
  // A member with the id of an object that the server keeps: a response, a conversation, a file. "": there is none.
  std::string stored;
};

// The path at the model server, such as "chat/completions", for the words after /v1; "": not passed on.
std::string PassedPath(const std::vector<std::string>& words);

// Throws ApiError if the request names a second model, or makes a server fetch something.
PassedRequest ReadPassed(simdjson::dom::element body);

// The body with another model's name, as JSON. The parts refer to the body and the name.
std::array<std::string_view, 3> WithModel(std::string_view body, const PassedRequest& request, std::string& name);

// Runs on the request's own strand, and uses no thread while it waits.
class UpstreamCall final : public BodySource {
 public:
  // The memory for a buffered part of an answer.
  static constexpr uint64_t kBytes = 128u << 10;

  struct Options {
    asio::io_context& context;
    std::chrono::milliseconds patience;  // for the answer's head, and for each piece; 0: no limit
    std::shared_ptr<Cancellation> cancellation;
    Charge charge;
  };
  struct Request {
    std::string_view path;                      // "chat/completions"
    std::array<std::string_view, 3> body = {};  // consecutive parts; must be valid until Send is done
    std::string trace;                          // the header `traceparent`
  };

  UpstreamCall(Options options, Upstream::Place place, std::shared_ptr<Upstream> upstream);

  // Called once, first. Tries servers until one is reached, and waits for the answer's head. UNAVAILABLE: none was
  // reached; LOST: it gave no answer; TIMEOUT.
  asio::awaitable<void> Send(const Request& request);
  unsigned status() const { return head().result_int(); }
  std::string Field(http::field name) const { return std::string(AsText(head()[name])); }
  // `call` is called when the first piece arrives.
  void OnFirst(std::function<void()> call) { on_first_ = std::move(call); }
  // The server refused the key.
  void LogRefused() { upstream_->LogRefused(server_, status()); }

  asio::awaitable<std::optional<std::string>> Next() override;
  asio::awaitable<void> End() override;

 private:
  enum class Sent { kYes, kNever, kLost };
  using Parser = http::response_parser<http::buffer_body>;

  const Parser::value_type& head() const {
    return parser_->get();  // NOLINT(bugprone-unchecked-optional-access): Send has set it
  }

  // Returns why there is no connection, or "".
  asio::awaitable<std::string> Connect();
  asio::awaitable<Sent> Talk(const Request& request);
  asio::awaitable<boost::system::error_code> ReadHead();
  // Logs a lost connection, unless the client has gone or the time was over.
  void LogLost(const boost::system::error_code& error);
  remote::HttpLink::Clock::time_point Patience() const;
  void Release();
  bool is_gone() const { return cancellation_ != nullptr && cancellation_->is_cancelled(); }

  asio::io_context& context_;
  const std::chrono::milliseconds patience_;
  Charge charge_;
  const std::shared_ptr<Upstream> upstream_;
  std::optional<Upstream::Place> place_;
  size_t server_ = 0;
  std::shared_ptr<remote::HttpLink> link_;
  std::optional<Parser> parser_;
  std::unique_ptr<char[]> piece_;
  std::function<void()> on_first_;
  const std::shared_ptr<Cancellation> cancellation_;
  std::optional<Cancellation::Stop> stop_;  // destroyed first
};

}  // namespace wasinn::serve::openai
