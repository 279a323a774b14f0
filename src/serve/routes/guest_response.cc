#include "serve/routes/guest_response.h"

#include <fmt/format.h>
#include <boost/beast/core/string.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/number.h"
#include "settings/text.h"

namespace wasinn::serve {

namespace {

using boost::beast::iequals;

constexpr size_t kMaxFields = 128;

// RFC 9110, section 5.6.2
bool IsToken(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || kMarks.find(c) != kMarks.npos;
  });
}

bool IsValue(std::string_view text) {
  return std::ranges::none_of(text,
                              [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; });
}

// Headers of the connection are the server's, and so is the length.
bool IsConnections(std::string_view name) {
  constexpr std::string_view kNames[] = {"Connection", "Keep-Alive", "Proxy-Connection",  "TE",
                                         "Trailer",    "Upgrade",    "Transfer-Encoding", "Content-Length"};
  return std::ranges::any_of(kNames, [name](std::string_view one) { return iequals(one, name); });
}

bool HasBody(http::status status) {
  return status != http::status::no_content && status != http::status::reset_content &&
         status != http::status::not_modified;
}

constexpr size_t kMaxHead = 16u << 10;  // as for a request
constexpr size_t kMaxWords = 500;

// Also Host, which becomes the authority.
bool IsOfConnection(http::field name) {
  constexpr http::field kNames[] = {
      http::field::connection,       http::field::expect,  http::field::host,
      http::field::keep_alive,       http::field::te,      http::field::trailer,
      http::field::proxy_connection, http::field::upgrade, http::field::transfer_encoding};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

}  // namespace

void GuestResponse::SetStatus(unsigned code) {
  if (has_status_) ThrowInvalid("it has two headers Status");
  const http::status status = http::int_to_status(code);
  if (code < 200 || status == http::status::unknown) {
    ThrowInvalid("its status is not a known one from 200 on: {}", code);
  }
  response_.status = status;
  has_status_ = true;
}

void GuestResponse::Add(std::string_view name, std::string_view value) {
  if (!IsToken(name) || !IsValue(value)) ThrowInvalid("a line of its header is not valid");
  if (IsConnections(name)) return;
  if (iequals(name, "Content-Type")) {
    if (has_type_) ThrowInvalid("it has two headers Content-Type");
    has_type_ = true;
    response_.content_type = value;
    return;
  }
  if (iequals(name, "Location")) {
    if (has_location_) ThrowInvalid("it has two headers Location");
    has_location_ = true;
  }
  if (response_.headers.size() == kMaxFields) ThrowInvalid("it has more than {} headers", kMaxFields);
  response_.headers.emplace_back(name, value);
}

bool GuestResponse::has_events() const {
  const std::string type = response_.content_type.substr(0, response_.content_type.find_first_of("; \t"));
  return HasBody(response_.status) && (iequals(type, "text/event-stream") || iequals(type, "application/x-ndjson"));
}

Response GuestResponse::Take(std::string body) {
  if (HasBody(response_.status)) response_.text = std::move(body);
  return std::move(response_);
}

void HandlerResponse::ReadHead(unsigned status, const engines::HttpFields& fields) {
  head_.SetStatus(status);
  size_t bytes = 0;
  for (const auto& [name, value] : fields) {
    bytes += name.size() + value.size() + 4;  // ": ", and the line's end
    if (bytes > kMaxHead) ThrowInvalid("its header has more than {} bytes", kMaxHead);
    head_.Add(name, value);
    if (!boost::beast::iequals(name, "Content-Length")) continue;
    length_ = base::ParseNumber<uint64_t>(value);
    if (!length_) ThrowInvalid("its Content-Length is not a number");
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
    why_ = fmt::format("it {}", why.substr(0, kMaxWords));
  } catch (const std::exception&) {
    state_ = KeptOutput::State::kNoMemory;
  }
}

void HandlerResponse::Refuse(std::string_view why) noexcept {
  Fail(why);
  is_refused_ = true;
}

bool HandlerResponse::is_wanted() const noexcept { return stream_.is_wanted(); }

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

std::string AuthorityOf(const Header& request, const Ends& ends) {
  const std::string_view host = AsText(request[http::field::host]);
  if (!host.empty()) return std::string(host);
  const std::string address = ends.server.address().to_string();
  return (ends.server.address().is_v6() ? "[" + address + "]" : address) + ":" + std::to_string(ends.server.port());
}

engines::HttpRequest ToHttpRequest(const Header& request, std::string_view body, std::string_view authority,
                                   bool is_secure) {
  if (request.count(http::field::host) > 1) ThrowInvalid("two headers Host");
  engines::HttpRequest its;
  its.method = AsText(request.method_string());
  its.scheme = is_secure ? "https" : "http";
  its.authority = authority;
  its.path_with_query = AsText(request.target());
  for (const auto& field : request) {
    if (!IsOfConnection(field.name())) its.fields.emplace_back(AsText(field.name_string()), AsText(field.value()));
  }
  its.body = body;
  return its;
}

HandlerStream::~HandlerStream() {
  {
    const std::lock_guard lock(mutex_);
    if (is_over_) return;
    is_unwanted_ = true;
  }
  cancellation_->Cancel();
  events_.AwaitHere(mutex_, [this] { return is_over_; });
}

void HandlerStream::Leave(Response answer, std::exception_ptr thrown) noexcept {
  const std::lock_guard lock(mutex_);
  if (!has_begun_) {
    answer_ = std::move(answer);
    thrown_ = std::move(thrown);
  }
  is_over_ = true;
  events_.Notify();
}

void HandlerStream::Run() noexcept {
  Response answer;
  std::exception_ptr thrown;
  try {
    answer = work_(*this);
  } catch (...) {
    thrown = std::current_exception();
  }
  work_ = nullptr;  // with its references to the request
  Leave(std::move(answer), std::move(thrown));
}

void HandlerStream::Start(Workers& workers, const Share& share, Place place) {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = false;
  }
  try {
    const bool begun = workers.Begin({.run = [this] { Run(); },
                                      .refuse = [this](const Failure& why) { Leave(ToResponse(why), nullptr); },
                                      .share = &share,
                                      .cancellation = cancellation_.get(),
                                      .place = place});
    if (!begun) Leave(ToResponse(Workers::TooMany()), nullptr);
  } catch (const std::exception&) {  // no memory: nothing has begun
    Leave({}, std::current_exception());
  }
}

asio::awaitable<Response> HandlerStream::Begin(Workers& workers, const Share& share, Place place) {
  Start(workers, share, place);
  co_await events_.Await(mutex_, [this] { return has_begun_ || is_over_; });
  const std::lock_guard lock(mutex_);
  if (thrown_ != nullptr) std::rethrow_exception(thrown_);
  is_stream_ = has_begun_;
  Response answer = std::exchange(answer_, std::nullopt).value_or(Response());
  co_return answer;
}

void HandlerStream::BeginBody(Response head) {
  const std::lock_guard lock(mutex_);
  answer_ = std::move(head);
  has_begun_ = true;
  events_.Notify();
}

KeptOutput::State HandlerStream::Write(std::string_view bytes) noexcept {
  using State = KeptOutput::State;
  const std::lock_guard lock(mutex_);
  if (bytes.empty() && !is_unwanted_) return State::kWhole;  // no event
  if (bytes.size() > most_body_ - n_written_) return State::kTooLarge;
  if (is_unwanted_ || !waiting_.Add(2 * bytes.size())) return State::kNoMemory;  // a growing text has room for more
  try {
    pending_ += bytes;
    events_.Notify();
  } catch (const std::exception&) {
    return State::kNoMemory;
  }
  n_written_ += bytes.size();
  return State::kWhole;
}

void HandlerStream::EndBody() noexcept {
  const std::lock_guard lock(mutex_);
  is_whole_ = true;
}

asio::awaitable<std::optional<std::string>> HandlerStream::Next() {
  co_await events_.Await(mutex_, [this] { return !pending_.empty() || is_over_; });
  const std::lock_guard lock(mutex_);
  waiting_.ShrinkTo(pending_.capacity());  // the last piece is written
  std::string piece = std::exchange(pending_, {});
  if (piece.empty() && !is_whole_) co_return std::nullopt;
  co_return piece;
}

asio::awaitable<void> HandlerStream::End() {
  bool runs = false;
  {
    const std::lock_guard lock(mutex_);
    is_unwanted_ = true;
    runs = !is_over_;
  }
  if (runs) cancellation_->Cancel();
  co_await events_.Await(mutex_, [this] { return is_over_; });
}

}  // namespace wasinn::serve
