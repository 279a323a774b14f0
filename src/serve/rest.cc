#include "serve/rest.h"

#include <fmt/format.h>

#include <boost/beast/core/string.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <charconv>
#include <utility>

#include "serve/json_response.h"
#include "serve/server_metadata.h"

namespace wasinn::serve {
namespace {

using nlohmann::json;

constexpr char kHeaderLength[] = "Inference-Header-Content-Length";

http::status StatusOf(wasinn_code code) {
  switch (code) {
    case WASINN_NOT_FOUND:
    case WASINN_MODEL_NOT_FOUND:
      return http::status::not_found;
    case WASINN_INVALID_ARGUMENT:
    case WASINN_INVALID_ENCODING:
    case WASINN_UNSUPPORTED_OPERATION:
    case WASINN_PROMPT_TOO_LONG:
      return http::status::bad_request;
    case WASINN_TOO_LARGE:
      return http::status::payload_too_large;
    case WASINN_SECURITY:
      return http::status::forbidden;
    case WASINN_TIMEOUT:
      return http::status::gateway_timeout;
    case WASINN_UNAVAILABLE:
    case WASINN_LOST:
      return http::status::service_unavailable;
    default:
      return http::status::internal_server_error;
  }
}

Response ToResponse(const Failure& failure) { return ErrorResponse(StatusOf(failure.code), failure.message); }

Response ToResponse(const json& answer) {
  Response response;
  response.text = answer.dump(-1, ' ', false, json::error_handler_t::replace);
  return response;
}

Response ToResponse(const Outcome<json>& answer) { return answer ? ToResponse(*answer) : ToResponse(answer.error()); }

Response ToResponse(const Outcome<void>& done) { return done ? Response() : ToResponse(done.error()); }

Response NotFound() { return ErrorResponse(http::status::not_found, "there is nothing of this name"); }

Response WrongMethod(const char* allowed) {
  Response response = ErrorResponse(http::status::method_not_allowed, fmt::format("only {} is known here", allowed));
  response.headers = {{"Allow", allowed}};
  return response;
}

bool IsGet(const Request& request) {
  return request.method() == http::verb::get || request.method() == http::verb::head;
}

// Where the JSON of a body ends.
Outcome<size_t> JsonSize(const Request& request) {
  const auto length = request.find(kHeaderLength);
  if (length == request.end()) return request.body().size();
  const boost::beast::string_view text = length->value();
  size_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error == std::errc() && end == text.data() + text.size()) return size;
  return std::unexpected(Failure{WASINN_INVALID_ARGUMENT, fmt::format("{} is no length", kHeaderLength)});
}

Response Written(const RestRequest& request, Outcome<InferResponse> inferred) {
  if (!inferred) return ToResponse(inferred.error());
  RestResponse written = WriteResponse(request, std::move(*inferred));
  Response response;
  if (!written.binary.empty()) {
    response.content_type = "application/octet-stream";
    response.headers = {{kHeaderLength, std::to_string(written.json.size())}};
  }
  response.text = std::move(written.json);
  response.binary = std::move(written.binary);
  return response;
}

Response TooMany() {
  Response response = ErrorResponse(http::status::too_many_requests, "as many requests wait as may");
  response.headers = {{"Retry-After", "1"}};
  return response;
}

}  // namespace

template <typename Work>
asio::awaitable<Response> Rest::OnWorker(Work work) {
  std::optional<Response> done = co_await workers_.Do(std::move(work));
  if (!done) co_return TooMany();
  co_return std::move(*done);
}

// models/NAME[/versions/VERSION][/WHAT]
Rest::Named Rest::NamedBy(const Words& words) {
  Named named{.model = words[1], .version = {}, .what = {}};
  size_t next = 2;
  if (words.size() > 3 && words[2] == "versions") {
    named.version = words[3];
    next = 4;
  }
  for (; next < words.size(); ++next) named.what += (named.what.empty() ? "" : "/") + words[next];
  return named;
}

Response Rest::Health(std::string_view what) {
  if (what == "live") return {};
  if (what != "ready") return NotFound();
  if (!is_draining_.load(std::memory_order_relaxed)) return {};
  return ErrorResponse(http::status::service_unavailable, "the server is shutting down");
}

asio::awaitable<Response> Rest::IsReady(Named named) {
  return OnWorker([this, named = std::move(named)] {
    const auto found = repository_.Find(named.model, named.version);
    return found ? Response() : ToResponse(found.error());
  });
}

asio::awaitable<Response> Rest::Infer(const Request& request, Named named) {
  if (request.method() != http::verb::post) co_return WrongMethod("POST");
  if (request.count(http::field::content_encoding) > 0) {
    co_return ErrorResponse(http::status::unsupported_media_type, "compressed requests are not understood");
  }
  const auto json_size = JsonSize(request);
  if (!json_size) co_return ToResponse(json_size.error());
  auto read = ReadRequest(request.body(), *json_size);
  if (!read) co_return ToResponse(read.error());
  read->infer.model = std::move(named.model);
  read->infer.version = std::move(named.version);
  const RestRequest& it = *read;
  if (repository_.IsQuick(it.infer)) co_return Written(it, repository_.Infer(it.infer));
  co_return co_await OnWorker([this, &it] { return Written(it, repository_.Infer(it.infer)); });
}

asio::awaitable<Response> Rest::AnswerModel(const Request& request, Named named) {
  if (named.what == "infer") return Infer(request, std::move(named));
  if (named.what == "ready") return IsReady(std::move(named));
  if (named.what.empty()) {
    return OnWorker([this, n = std::move(named)] { return ToResponse(repository_.Metadata(n.model, n.version)); });
  }
  if (named.what == "config") {
    return OnWorker([this, n = std::move(named)] { return ToResponse(repository_.Config(n.model, n.version)); });
  }
  if (named.what == "stats") {
    return OnWorker([this, n = std::move(named)] {
      const auto found = repository_.Find(n.model, n.version);
      return found ? ToResponse(statistics_.Of(n.model, n.version)) : ToResponse(found.error());
    });
  }
  return OnWorker([] { return NotFound(); });
}

asio::awaitable<Response> Rest::AnswerRepository(const Request& request, const Words& words) {
  if (request.method() != http::verb::post) co_return WrongMethod("POST");
  if (words.size() == 2 && words[1] == "index") co_return ToResponse(repository_.Index());
  if (words.size() != 4 || words[1] != "models") co_return NotFound();
  const std::string model = words[2];
  if (words[3] == "load") co_return co_await OnWorker([this, &model] { return ToResponse(repository_.Load(model)); });
  if (words[3] != "unload") co_return NotFound();
  co_return co_await OnWorker([this, &model] { return ToResponse(repository_.Unload(model)); });
}

asio::awaitable<Response> Rest::Answer(const Request& request) {
  const auto url = boost::urls::parse_origin_form(std::string_view(request.target().data(), request.target().size()));
  if (!url) co_return ErrorResponse(http::status::bad_request, "the target is no path");
  Words words;
  for (const auto segment : url->segments()) {
    if (std::string word = segment; !word.empty()) words.push_back(std::move(word));
  }
  if (words.empty() || words[0] != "v2") co_return NotFound();
  words.erase(words.begin());
  if (!words.empty() && words[0] == "repository") co_return co_await AnswerRepository(request, words);
  const bool names_model = words.size() > 1 && words[0] == "models";
  if (names_model && words.back() == "infer") co_return co_await Infer(request, NamedBy(words));
  if (!IsGet(request)) co_return WrongMethod("GET");
  if (words.empty()) co_return ToResponse(ServerMetadata());
  if (words.size() == 2 && words[0] == "health") co_return Health(words[1]);
  if (words == Words{"models", "stats"}) co_return ToResponse(statistics_.All());
  if (names_model) co_return co_await AnswerModel(request, NamedBy(words));
  co_return NotFound();
}

}  // namespace wasinn::serve
