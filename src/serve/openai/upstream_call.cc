#include "serve/openai/upstream_call.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "remote/http_stream.h"
#include "serve/openai/errors.h"
#include "serve/openai/fields.h"

namespace wasinn::serve::openai {

namespace {

using boost::system::error_code;
using remote::HttpLink;
using remote::HttpStream;

constexpr uint32_t kMaxUpstreamHead = 32u << 10;
// The limit of interim answers, such as 100.
constexpr int kMaxInterim = 8;
constexpr size_t kMaxPiece = 32u << 10;

using Body = std::array<std::string_view, 3>;

using simdjson::dom::element;

// Whether clients use a member of this name for a URL that a server fetches.
bool IsUrlName(std::string_view name) {
  std::string lower(name.substr(name.size() - std::min<size_t>(name.size(), 8)));
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto ends = {"url", "uri", "urls", "uris"};
  const auto words = {"image", "audio", "video"};
  return std::ranges::any_of(ends, [&](const char* end) { return lower.ends_with(end); }) ||
         std::ranges::find(words, lower) != words.end();
}

// Whether a member of this name has ids of objects that a server keeps for the owner of its key.
bool IsStoredName(std::string_view name) {
  const auto names = {"previous_response_id", "conversation", "container", "file_id", "file_ids",
                      "vector_store_ids",     "connector_id"};
  return std::ranges::any_of(names, [name](const char* one) { return boost::beast::iequals(name, one); });
}

// Reads a member of the body and all nested ones. The model server would fetch URLs from inside its network, which
// clients must not use.
void ReadMember(element value, std::string_view name, std::string_view field, PassedRequest& request) {
  if (value.is_array()) {
    for (const element one : value.get_array()) ReadMember(one, name, field, request);
  } else if (value.is_object()) {
    for (const auto& [inner, member] : value.get_object()) ReadMember(member, inner, field, request);
  } else if (value.is_string()) {
    if (IsUrlName(name) && !static_cast<std::string_view>(value).starts_with("data:")) {
      const std::string text(field);
      ThrowWrong(text, text + ": nothing is fetched: images, sounds and files must be data: URLs");
    }
    if (IsStoredName(name)) request.stored = name;
  }
}

// The begin and end of the value of an object's n-th member, in valid JSON.
std::pair<size_t, size_t> FindValue(std::string_view object, size_t n) {
  size_t depth = 0, begin = 0;
  for (size_t i = 0; i < object.size(); ++i) {
    switch (object[i]) {
      case '"':
        while (object[++i] != '"') i += object[i] == '\\' ? 1 : 0;
        break;
      case '{':
      case '[':
        ++depth;
        break;
      case ':':
        if (depth == 1 && n == 0) begin = i + 1;
        break;
      case ',':
      case '}':
      case ']':
        if (depth == 1 && n == 0) return {begin, i};
        if (object[i] != ',') --depth;
        if (object[i] == ',' && depth == 1) --n;
        break;
      default:
        break;
    }
  }
  return {0, 0};
}

// The body with another model's name, as JSON: consecutive parts, which refer to the body and the name.
Body WithModel(std::string_view body, const PassedRequest& request, std::string& name) {
  if (request.member) {
    const auto [begin, end] = FindValue(body, *request.member);
    return {body.substr(0, begin), name, body.substr(end)};
  }
  const size_t first = body.find('{') + 1;
  name = R"("model":)" + name + (request.is_empty ? "" : ",");
  return {body.substr(0, first), name, body.substr(first)};
}

class UpstreamCall final : public BodySource {
 public:
  UpstreamCall(PassedCall call, Upstream::Place place, std::shared_ptr<Upstream> upstream)
      : call_(std::move(call)),
        upstream_(std::move(upstream)),
        place_(std::move(place)),
        piece_(std::make_unique_for_overwrite<char[]>(kMaxPiece)) {
    stop_.emplace(call_.cancellation.get(), [this] {  // on the same strand, which watches the client
      if (link_ != nullptr) link_->Close();
    });
  }

  // Called once, first. Tries servers until one is reached, and waits for the answer's head. UNAVAILABLE: none was
  // reached; LOST: it gave no answer; TIMEOUT.
  asio::awaitable<void> Send(const Body& body) {
    std::vector<bool> tried;
    Upstream::Place& place = *place_;  // NOLINT(bugprone-unchecked-optional-access): released later
    while (const auto server = upstream_->Choose(place, tried)) {
      server_ = *server;
      const std::string why = co_await Connect();
      if (is_gone()) break;
      if (!why.empty()) {
        upstream_->LogState(server_, why);
        continue;
      }
      const Sent sent = co_await Talk(body);
      if (sent == Sent::kYes) {
        upstream_->LogState(server_, "");
        co_return;
      }
      if (link_->is_late()) {
        Throw(WASINN_ERROR_TIMEOUT, "the model's server did not answer within {} ms (limits.compute_timeout_ms)",
              call_.patience.count());
      }
      if (sent == Sent::kLost) Throw(WASINN_ERROR_LOST, "the model's server gave no answer");
    }
    Throw(WASINN_ERROR_UNAVAILABLE, "the model's server cannot be reached");
  }
  unsigned status() const { return head().result_int(); }
  std::string Field(http::field name) const { return std::string(AsText(head()[name])); }
  // The body is a stream, whose first piece is reported.
  void SetStream() { is_stream_ = true; }
  // The server refused the key.
  void LogRefused() { upstream_->LogRefused(server_, status()); }

  asio::awaitable<std::optional<std::string>> Next() override {
    Parser& parser = *parser_;  // NOLINT(bugprone-unchecked-optional-access): Send has set it
    auto& body = parser.get().body();
    while (!parser.is_done()) {
      body.data = piece_.get();
      body.size = kMaxPiece;
      body.more = true;
      link_->SetDeadline(Patience());
      error_code error = co_await link_->stream().ReadSome(parser);
      link_->ClearDeadline();
      if (error == http::error::need_buffer) error = {};
      if (error) {
        LogLost(error);
        co_return std::nullopt;
      }
      if (parser.is_done()) Release();  // before the client sees the end: its next request may follow at once
      const size_t size = kMaxPiece - body.size;
      if (size == 0) continue;
      if (std::exchange(is_stream_, false)) call_.on_first();
      co_return std::string(piece_.get(), size);
    }
    co_return "";
  }
  asio::awaitable<void> End() override {
    Release();
    co_return;
  }

 private:
  enum class Sent { kYes, kNever, kLost };
  using Parser = http::response_parser<http::buffer_body>;

  const Parser::value_type& head() const {
    return parser_->get();  // NOLINT(bugprone-unchecked-optional-access): Send has set it
  }
  HttpLink::Clock::time_point Patience() const {
    return call_.patience.count() == 0 ? HttpLink::Clock::time_point::max() : HttpLink::Clock::now() + call_.patience;
  }
  bool is_gone() const { return call_.cancellation != nullptr && call_.cancellation->is_cancelled(); }

  // Returns why there is no connection, or "".
  asio::awaitable<std::string> Connect() {
    const asio::any_io_executor strand = co_await asio::this_coro::executor;
    if (auto idle = upstream_->TakeIdle(server_)) {
      link_ = std::make_shared<HttpLink>(strand, std::move(idle));
      co_return "";
    }
    // Not on a strand: the next request on this connection has its own.
    link_ = std::make_shared<HttpLink>(strand,
                                       std::make_unique<HttpStream>(call_.context.get_executor(), upstream_->tls()));
    const remote::HostAndPort server(upstream_->endpoint(server_));
    co_return co_await link_->Connect(server, upstream_->NameOf(server.host), upstream_->connect_timeout());
  }
  asio::awaitable<Sent> Talk(const Body& body) {
    size_t size = 0;
    for (const std::string_view part : body) size += part.size();
    // None of the client's headers are passed on: its key is only for this server.
    const remote::Headers own = {{"content-type", "application/json"}, {"traceparent", call_.trace}};
    const std::string path = upstream_->address().base + "/" + call_.path;
    const std::string head = remote::HeadOf(upstream_->endpoint(server_), path, size, {&own, &upstream_->headers()});
    std::vector<asio::const_buffer> buffers{asio::buffer(head)};
    for (const std::string_view part : body) buffers.emplace_back(part.data(), part.size());
    link_->SetDeadline(Patience());
    const HttpStream::Ended written = co_await link_->stream().Write(buffers);
    const bool has_begun = written.bytes > 0 || link_->stream().is_secure();
    if (written.error && !has_begun) {
      LogLost(written.error);
      co_return Sent::kNever;
    }
    // A server may answer before it has read everything, and close the connection.
    const error_code error = co_await ReadHead();
    link_->ClearDeadline();
    if (!error) co_return Sent::kYes;
    LogLost(error);
    co_return Sent::kLost;
  }
  asio::awaitable<error_code> ReadHead() {
    for (int i = 0; i < kMaxInterim; ++i) {
      Parser& parser = parser_.emplace();
      parser.header_limit(kMaxUpstreamHead);
      parser.body_limit(boost::none);
      parser.eager(true);
      const error_code error = co_await link_->stream().ReadHead(parser);
      if (error || status() >= 200) co_return error;
      if (status() == 101) break;
    }
    co_return http::error::bad_status;
  }
  // Logs a lost connection, unless the client has gone or the time was over.
  void LogLost(const error_code& error) {
    if (is_gone() || link_->is_late()) return;
    HttpStream& stream = link_->stream();
    upstream_->LogState(server_,
                        remote::WordsOfExchange(
                            {.error = error, .is_secure = stream.is_secure(), .has_answered = stream.has_answered()}));
  }
  // Gives back what the call has of the server. Later calls do nothing.
  void Release() {
    stop_.reset();
    const bool can_reuse = link_ != nullptr && parser_.has_value() && parser_->is_done() &&
                           parser_->get().keep_alive() && !parser_->need_eof() && !link_->is_closed() &&
                           link_->stream().IsReusable();
    if (can_reuse) upstream_->KeepIdle(server_, link_->Take());
    link_.reset();
    place_.reset();
  }

  const PassedCall call_;
  const std::shared_ptr<Upstream> upstream_;
  std::optional<Upstream::Place> place_;
  size_t server_ = 0;
  std::shared_ptr<HttpLink> link_;
  std::optional<Parser> parser_;
  const std::unique_ptr<char[]> piece_;
  bool is_stream_ = false;
  std::optional<Cancellation::Stop> stop_;  // destroyed first
};

}  // namespace

std::string PassedPath(const std::vector<std::string>& words) {
  static const std::array<std::vector<std::string>, 5> paths = {
      {{"chat", "completions"}, {"completions"}, {"embeddings"}, {"responses"}, {"rerank"}}};
  if (std::ranges::find(paths, words) == paths.end()) return "";
  return words.size() == 1 ? words[0] : words[0] + "/" + words[1];
}

PassedRequest ReadPassed(element body) {
  if (!body.is_object()) ThrowWrong("", "the body is not a JSON object");
  PassedRequest request{.is_empty = body.get_object().size() == 0};
  size_t n = 0;
  for (const auto& [name, value] : body.get_object()) {
    // Servers in Go ignore the case of names.
    const auto is = [&name](std::string_view other) { return boost::beast::iequals(name, other); };
    if (is("model")) {
      if (name != "model") ThrowWrong(std::string(name), "model must be lower case");
      // This server would check one of the two, and the model server might use the other.
      if (request.member) ThrowWrong("model", "model occurs twice");
      if (!value.is_string() && !value.is_null()) ThrowWrong("model", "model is not a string");
      if (value.is_string()) request.model = static_cast<std::string_view>(value);
      request.member = n;
    } else if ((is("models") || is("fallbacks")) && !IsNothing(value)) {
      ThrowWrong(std::string(name), std::string(name) + ": a request may name only one model");
    } else if (is("messages") || is("input") || is("tools")) {
      ReadMember(value, "", name, request);
    } else if (!IsNothing(value) && (IsStoredName(name) || (is("prompt") && value.is_object()))) {
      request.stored = name;
    }
    ++n;
  }
  return request;
}

void AddStreamHeaders(Response& response) {
  response.headers.emplace_back("Cache-Control", "no-cache");
  response.headers.emplace_back("X-Accel-Buffering", "no");
}

asio::awaitable<Response> PassOn(PassedCall passed, const PassedRequest& request, std::string_view body,
                                 std::shared_ptr<Upstream> upstream, Upstream::Place place) {
  std::string model = Dump(upstream->address().model);
  auto call = std::make_unique<UpstreamCall>(std::move(passed), std::move(place), std::move(upstream));
  try {
    co_await call->Send(WithModel(body, request, model));
  } catch (const Failure& failure) {
    ApiError error = ToApiError(failure);
    if (failure.code == WASINN_ERROR_LOST) error.status = http::status::bad_gateway;
    throw error;
  }
  const unsigned status = call->status();
  if (status == 401 || status == 403 || status == 407) {  // it refused this server's key, not the client's
    call->LogRefused();
    throw ApiError{.status = http::status::bad_gateway, .message = "the model's server refuses this server's key"};
  }
  if (status >= 300 && status < 400) {
    throw ApiError{.status = http::status::bad_gateway, .message = "the model's server redirects to another place"};
  }
  Response response{.status = static_cast<http::status>(status)};
  if (std::string type = call->Field(http::field::content_type); !type.empty()) response.content_type = std::move(type);
  for (const http::field name : {http::field::retry_after, http::field::content_encoding}) {
    if (std::string value = call->Field(name); !value.empty()) {
      response.headers.emplace_back(std::string(AsText(http::to_string(name))), std::move(value));
    }
  }
  if (response.content_type.starts_with("text/event-stream")) {
    AddStreamHeaders(response);
    call->SetStream();
  }
  if (status != 204) response.source = std::move(call);
  co_return response;
}

}  // namespace wasinn::serve::openai
