#include "serve/routes/handler_response.h"

#include <fmt/format.h>

#include <boost/beast/core/string.hpp>
#include <charconv>
#include <exception>
#include <utility>

#include "settings/text.h"

namespace wasinn::serve {
namespace {

constexpr size_t kMostHead = 16u << 10;  // as for a request
constexpr size_t kMostWords = 500;

}  // namespace

void HandlerResponse::ReadHead(unsigned status, const engines::HttpFields& fields) {
  head_.SetStatus(status);
  size_t bytes = 0;
  for (const auto& [name, value] : fields) {
    bytes += name.size() + value.size() + 4;  // ": ", and the line's end
    if (bytes > kMostHead) ThrowInvalid(fmt::format("its header has more than {} bytes", kMostHead));
    head_.Add(name, value);
    if (!boost::beast::iequals(name, "Content-Length")) continue;
    uint64_t length = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), length);
    if (error != std::errc() || end != value.data() + value.size()) ThrowInvalid("its Content-Length is not a number");
    length_ = length;
  }
}

bool HandlerResponse::Begin(unsigned status, const engines::HttpFields& fields) noexcept {
  try {
    ReadHead(status, fields);
    if (head_.has_events() && !length_ && !is_head_) {
      is_stream_ = true;
      stream_.BeginBody(head_.Take(""));
    }
    return true;
  } catch (const serve::Failure& failure) {
    why_ = failure.message;
  } catch (const std::exception&) {
    state_ = KeptOutput::State::kNoMemory;
  }
  return false;
}

bool HandlerResponse::Write(std::string_view bytes) noexcept {
  if (!is_stream_) return body_.Write(bytes);
  state_ = stream_.Write(bytes);
  return state_ == KeptOutput::State::kWhole;
}

void HandlerResponse::End() noexcept {
  is_whole_ = true;
  if (is_stream_) stream_.EndBody();
}

void HandlerResponse::Fail(std::string_view why) noexcept {
  try {
    why_ = fmt::format("it {}", why.substr(0, kMostWords));
  } catch (const std::exception&) {
    state_ = KeptOutput::State::kNoMemory;
  }
}

void HandlerResponse::Refuse(std::string_view why) noexcept {
  Fail(why);
  is_refused_ = true;
}

std::optional<Response> HandlerResponse::Take() {
  KeptOutput::Taken taken = body_.Take();
  if (state_ == KeptOutput::State::kWhole) state_ = taken.state;
  if (!is_whole_ || state_ != KeptOutput::State::kWhole) return std::nullopt;
  if (length_ && *length_ != taken.text.size() && !is_head_) {
    why_ = fmt::format("its Content-Length is {}, and its body has {} bytes", *length_, taken.text.size());
    return std::nullopt;
  }
  Response response = head_.Take(std::move(taken.text));
  // For the body that a GET would have had: the server computes the length of a body that exists.
  if (is_head_ && length_) response.headers.emplace_back("Content-Length", std::to_string(*length_));
  response.charge = std::move(taken.charge);
  return response;
}

Response HandlerResponse::WhyNone(const std::string& guest) const {
  if (is_refused_) return ErrorResponse(http::status::bad_request, "a guest cannot get such a request");
  switch (state_) {
    case KeptOutput::State::kNoMemory:
      return ToResponse(NoMemory());
    case KeptOutput::State::kTooLarge:
      return ErrorResponse(http::status::bad_gateway,
                           fmt::format("the guest of {}: it wrote more than {} bytes", guest, most_body_));
    case KeptOutput::State::kWhole:
      break;
  }
  return ErrorResponse(http::status::bad_gateway, fmt::format("the guest of {}: {}", guest, settings::Printable(why_)));
}

}  // namespace wasinn::serve
