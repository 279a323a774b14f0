// Requests that are passed on to a model server, and their answers.
#pragma once

#include <simdjson.h>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http/http_message.h"
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

struct PassedCall {
  // The memory for a buffered part of an answer.
  static constexpr uint64_t kBytes = 128u << 10;

  boost::asio::io_context& context;
  std::chrono::milliseconds patience;  // for the answer's head, and for each piece; 0: no limit
  std::shared_ptr<Cancellation> cancellation;
  Charge charge;                   // of kBytes
  std::string path, trace;         // "chat/completions"; the header `traceparent`
  std::function<void()> on_first;  // called when the first piece of a stream arrives
};

// The answer to a request whose body is `body`. Tries servers until one is reached. It runs on the request's own
// strand, uses no thread while it waits, and reads from the server as fast as the client reads. Throws ApiError, and
// Failure: UNAVAILABLE: no server was reached; TIMEOUT.
boost::asio::awaitable<Response> PassOn(PassedCall call, const PassedRequest& request, std::string_view body,
                                        std::shared_ptr<Upstream> upstream, Upstream::Place place);

// Keeps proxies from buffering a stream.
void AddStreamHeaders(Response& response);

}  // namespace wasinn::serve::openai
