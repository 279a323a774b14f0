// The answer of a guest behind a route, limited to what a server passes on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engines/engine.h"
#include "serve/http/http_message.h"
#include "serve/oip/inference.h"
#include "serve/routes/guest_streams.h"
#include "serve/routes/handler_stream.h"

namespace wasinn::serve {

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
Outcome<engines::HttpRequest> ToHttpRequest(const Header& request, std::string_view body, std::string_view authority,
                                            bool is_secure);

}  // namespace wasinn::serve
