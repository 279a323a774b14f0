// What a component behind a route answers (wasi:http/incoming-handler): kept until it is whole, but for events, which go out as they come.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engines/engine.h"
#include "serve/http/http_message.h"
#include "serve/routes/guest_response.h"
#include "serve/routes/guest_streams.h"
#include "serve/routes/handler_stream.h"

namespace wasinn::serve {

class HandlerResponse final : public engines::HttpSink {
 public:
  // `is_head`: to a HEAD, so that there is no body, whatever the header says of one. `stream`: where events go; it outlives this.
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
  // After the run, once, where it does not. Nothing: there is no whole one.
  std::optional<Response> Take();
  // Why not, then, if the run has nothing else to say. `guest`: its name.
  Response WhyNone(const std::string& guest) const;

 private:
  void ReadHead(unsigned status, const engines::HttpFields& fields);

  GuestResponse head_;
  KeptOutput body_;
  const uint64_t most_body_;
  const bool is_head_;
  HandlerStream& stream_;
  std::optional<uint64_t> length_;  // that the guest has told
  KeptOutput::State state_ = KeptOutput::State::kWhole;
  bool is_stream_ = false, is_whole_ = false, is_refused_ = false;
  std::string why_;
};

}  // namespace wasinn::serve
