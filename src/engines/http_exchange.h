// A request that a program answers by a call (wasi:http), instead of reading and writing streams.
#pragma once

#include <chrono>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace wasinn::engines {

using HttpFields = std::vector<std::pair<std::string_view, std::string_view>>;

struct HttpRequest {
  std::string_view method, scheme, authority, path_with_query;
  HttpFields fields;
  std::string_view body;
};

// Receives the answer, on the thread of the run. False: no more of it is wanted, and the guest is ended.
class HttpSink {
 public:
  virtual ~HttpSink() = default;
  virtual bool Begin(unsigned status, const HttpFields& fields) noexcept = 0;
  virtual bool Write(std::string_view bytes) noexcept = 0;
  // The answer is complete. The end of the run does not matter any more.
  virtual void End() noexcept = 0;
  // The answer will not be complete: "the guest …".
  virtual void Fail(std::string_view why) noexcept = 0;
  // No guest can get this request.
  virtual void Refuse(std::string_view why) noexcept = 0;
  // Whether anybody waits for the answer. Any thread.
  virtual bool is_wanted() const noexcept { return true; }
};

// Whether a guest may send a request of its own to that scheme and authority.
using HttpPermission = std::function<bool(std::string_view scheme, std::string_view authority)>;

// The exchange of one run, or of one request to a Service. Both pointers outlive it.
struct HttpExchange {
  const HttpRequest* request;
  HttpSink* sink;
  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();  // for a Service
};

}  // namespace wasinn::engines
