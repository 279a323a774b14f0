// The answer of a guest behind a route, limited to what a server passes on; and a program's request and answer in the
// form of the Common Gateway Interface (RFC 3875).
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engines/engine.h"
#include "serve/http/http_message.h"
#include "serve/oip/inference.h"
#include "serve/routes/guest_runs.h"
#include "serve/tenants/memory_budget.h"
#include "serve/threads/cancellation.h"
#include "serve/threads/events.h"
#include "serve/threads/workers.h"

namespace wasinn::serve {

class HandlerStream;

// Its functions throw a Failure with the guest's error.
class GuestResponse {
 public:
  // A known status, from 200 on.
  void SetStatus(unsigned code);
  // Adds a header. Those of the connection, and the length, belong to the server: they are dropped.
  void Add(std::string_view name, std::string_view value);

  bool has_status() const { return has_status_; }
  bool has_type() const { return has_type_; }
  bool has_location() const { return has_location_; }
  // Whether its body is a stream of events, which clients need as they come.
  bool has_events() const;

  // Without the charge. A body that the status does not allow is dropped.
  Response Take(std::string body);

 private:
  Response response_{.content_type = ""};
  bool has_status_ = false, has_type_ = false, has_location_ = false;
};

// A component's answer (wasi:http): kept until it is complete, except for events, sent as they come.
class HandlerResponse final : public engines::HttpSink {
 public:
  // `is_head`: answers a HEAD, so there is no body, whatever the header says. `stream`: receives events; outlives it.
  HandlerResponse(std::shared_ptr<MemoryBudget> budget, uint64_t most_body, bool is_head, HandlerStream& stream)
      : body_(std::move(budget), most_body), most_body_(most_body), is_head_(is_head), stream_(stream) {}

  bool Begin(unsigned status, const engines::HttpFields& fields) noexcept override;
  bool Write(std::string_view bytes) noexcept override;
  void End() noexcept override;
  void Fail(std::string_view why) noexcept override;
  void Refuse(std::string_view why) noexcept override;
  bool is_wanted() const noexcept override;

  // Whether its body goes to the stream.
  bool is_stream() const { return is_stream_; }
  bool is_whole() const { return is_whole_; }
  // Call it once after the run, if its body does not. No value: it is not complete.
  std::optional<Response> Take();
  // The reason for that, if the run itself has none. `guest`: its name.
  Response WhyNone(const std::string& guest) const;

 private:
  void ReadHead(unsigned status, const engines::HttpFields& fields);

  GuestResponse head_;
  KeptOutput body_;
  const uint64_t most_body_;
  const bool is_head_;
  HandlerStream& stream_;
  std::optional<uint64_t> length_;  // from the guest
  KeptOutput::State state_ = KeptOutput::State::kWhole;
  bool is_stream_ = false, is_whole_ = false, is_refused_ = false;
  std::string why_;
};

// The header Host, or else the connection's local end.
std::string AuthorityOf(const Header& request, const Ends& ends);

// Refers to the arguments, which must outlive it. Headers of the connection are dropped.
engines::HttpRequest ToHttpRequest(const Header& request, std::string_view body, std::string_view authority,
                                   bool is_secure);

// The answer of a component behind a route on its way from its worker to the request's own thread: whole, or piece by
// piece. A client that reads slowly holds memory, which is charged, and no worker, as with texts. Its functions are for
// the request's own thread, unless a comment says otherwise.
class HandlerStream final : public BodySource {
 public:
  // A worker's task. It returns the answer, or any value if it has begun a body.
  using Work = std::function<Response(HandlerStream& stream)>;

  HandlerStream(Work work, std::shared_ptr<MemoryBudget> budget, uint64_t most_body,
                std::shared_ptr<Cancellation> cancellation)
      : work_(std::move(work)),
        cancellation_(std::move(cancellation)),
        most_body_(most_body),
        waiting_(std::move(budget)) {}
  // Waits for the worker if End was not called, for example because of a lack of memory.
  ~HandlerStream() override;
  HandlerStream(const HandlerStream&) = delete;
  HandlerStream& operator=(const HandlerStream&) = delete;

  // Call it once, first: returns the answer; if is_stream(), without its body, which comes from here.
  asio::awaitable<Response> Begin(Workers& workers, const Share& share, Place place = kNoPlace);
  bool is_stream() const { return is_stream_; }
  asio::awaitable<std::optional<std::string>> Next() override;
  asio::awaitable<void> End() override;

  // For the worker. The answer has that head, and is sent from here on.
  void BeginBody(Response head);
  // kWhole: go on. kNoMemory also means that no more is wanted.
  KeptOutput::State Write(std::string_view bytes) noexcept;
  void EndBody() noexcept;
  bool is_wanted() const { return !cancellation_->is_cancelled(); }

 private:
  void Start(Workers& workers, const Share& share, Place place);
  void Run() noexcept;
  void Leave(Response answer, std::exception_ptr thrown) noexcept;

  Work work_;
  const std::shared_ptr<Cancellation> cancellation_;
  const uint64_t most_body_;
  bool is_stream_ = false;
  std::mutex mutex_;  // guards the members below
  Events events_;
  std::optional<Response> answer_;  // until Begin() takes it
  std::exception_ptr thrown_;       // instead of an answer
  bool has_begun_ = false, is_whole_ = false, is_unwanted_ = false;
  bool is_over_ = true;     // no worker has it, nor will any
  uint64_t n_written_ = 0;  // bytes so far
  std::string pending_;     // and not being written yet
  Charge waiting_;          // for these, and for the piece that is being written
};

using Variables = std::vector<std::pair<std::string, std::string>>;

// `path`: from PathOf, with the route and the rest. A header that is not UTF-8 is an error: WASI has nothing else.
Variables CgiVariables(const Header& request, const std::string& route, const std::string& path, uint64_t body_bytes,
                       const Ends& ends);

// Without the charge. The failure's text is about the guest's error.
Response ReadCgiResponse(std::string output);

}  // namespace wasinn::serve
