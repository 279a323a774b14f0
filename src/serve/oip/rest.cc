#include "serve/oip/rest.h"

#include <fmt/format.h>

#include <boost/asio/defer.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

#include "serve/generation.h"
#include "serve/http/content_encoding.h"
#include "serve/http/target.h"
#include "serve/metrics/access_log.h"
#include "serve/oip/json_response.h"
#include "serve/oip/server_metadata.h"

namespace wasinn::serve {
namespace {

using nlohmann::json;

constexpr char kHeaderLength[] = "Inference-Header-Content-Length";
constexpr std::string_view kGenerate = "generate", kGenerateStream = "generate_stream";

Response ToResponse(const json& answer) {
  Response response;
  response.text = answer.dump(-1, ' ', false, json::error_handler_t::replace);
  return response;
}

Response ToResponse(const Outcome<json>& answer) { return answer ? ToResponse(*answer) : ToResponse(answer.error()); }

Response ToResponse(const Outcome<void>& done) {
  return done ? Response{.content_type = ""} : ToResponse(done.error());
}

// The extension of Triton's that a request asks for and that is not served; NULL: none.
const char* ExtensionNotServed(const std::vector<std::string>& words, std::string_view of_model) {
  const std::string_view first = words.empty() ? std::string_view() : words[0];
  if (first == "trace" || of_model == "trace/setting") return "trace settings";
  if (first == "logging") return "log settings";
  if (first == "systemsharedmemory" || first == "cudasharedmemory") return "shared memory";
  return nullptr;
}

Response NotFound() { return ErrorResponse(http::status::not_found, "there is nothing of this name"); }

Response WrongMethod(const char* allowed) {
  Response response = ErrorResponse(http::status::method_not_allowed, fmt::format("only {} is known here", allowed));
  response.headers = {{"Allow", allowed}};
  return response;
}

bool IsGet(const Request& request) {
  return request.method() == http::verb::get || request.method() == http::verb::head;
}

Catalog& ModelsOf(const Exchange& exchange) { return exchange.admission.generation->models(); }

// Where the JSON of a body ends.
Outcome<size_t> JsonSize(const Request& request, uint64_t most) {
  const auto length = request.find(kHeaderLength);
  if (length == request.end()) return request.body().size();
  const boost::beast::string_view text = length->value();
  size_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc() || end != text.data() + text.size()) return Refuse("{} is not a length", kHeaderLength);
  if (size <= most) return size;
  return Refuse(WASINN_ERROR_TOO_LARGE, "the JSON is larger than {} bytes", most);
}

// A load with a configuration or files of its own would give other models than the client has asked for.
Outcome<void> CheckLoadRequest(std::string_view body) {
  if (body.size() > kMostInline) return CheckLoadParameter("file:");  // what else is so large
  const json request = json::parse(body, nullptr, false);
  if (!request.is_object() || !request.contains("parameters") || !request["parameters"].is_object()) return {};
  for (const auto& [name, value] : request["parameters"].items()) {
    if (auto taken = CheckLoadParameter(name); !taken) return taken;
  }
  return {};
}

// Metadata of models may be long: they grow with the models and their inputs.
Response Charged(Response response, const Tenant& tenant) {
  if (response.charge.bytes() > 0 || response.text.size() <= kMostUncharged) return response;
  response.charge = Charge(tenant.budget());
  if (response.charge.Add(response.text.size())) return response;
  return ToResponse(NoMemory());
}

Response ToResponse(RestResponse written) {
  Response response;
  if (!written.binary.empty()) {
    response.content_type = "application/octet-stream";
    response.headers = {{kHeaderLength, std::to_string(written.json.size())}};
  }
  response.text = std::move(written.json);
  response.binary = std::move(written.binary);
  return response;
}

}  // namespace

uint64_t Rest::MostBody(const Header& header) const {
  return header.count(kHeaderLength) > 0 ? limits_.most_body : MostJson();
}

uint64_t Rest::MostJson() const { return std::min(limits_.most_json, limits_.most_body); }

asio::awaitable<Response> Rest::OnWorker(Exchange& exchange, Work work, Workers& workers, Place place) {
  const std::shared_ptr<Cancellation> cancellation = exchange.watch();
  std::function<Response()> run = [work = std::move(work), cancellation] { return work(cancellation.get()); };
  Outcome<Response> done =
      co_await workers.Do(std::move(run), exchange.admission.tenant->share(), cancellation.get(), place);
  if (!done) co_return ToResponse(done.error());
  co_return Charged(std::move(*done), *exchange.admission.tenant);
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

Response Rest::Health(const Exchange& exchange, std::string_view what) {
  if (what == "live") return ToResponse(json{{"live", true}});
  if (what != "ready") return NotFound();
  if (!is_draining_.load(std::memory_order_relaxed)) {
    const auto ready = exchange.admission.generation->repository().CheckReady();
    return ready ? ToResponse(json{{"ready", true}}) : ToResponse(ready.error());
  }
  return ErrorResponse(http::status::service_unavailable, "the server is shutting down");
}

// On whatever thread. The request's body is not needed afterwards.
Response Rest::InferNow(Exchange& exchange, Named& named, Cancellation* cancellation) {
  Request& request = exchange.request;
  const auto json_size = JsonSize(request, limits_.most_json);
  if (!json_size) return ToResponse(json_size.error());
  auto read = ReadRequest(request.body().view(), *json_size, request.body().charge());
  if (!read) return ToResponse(read.error());
  read->infer.model = std::move(named.model);
  read->infer.version = std::move(named.version);
  Outcome<InferResponse> inferred = ModelsOf(exchange).Infer(*exchange.admission.tenant, read->infer, cancellation);
  if (!inferred) return ToResponse(inferred.error());
  Charge charge(exchange.admission.tenant->budget());
  Outcome<RestResponse> written = WriteResponse(*read, std::move(*inferred), charge);
  if (!written) return ToResponse(written.error());
  Response response = ToResponse(std::move(*written));
  response.charge = std::move(charge);
  return response;
}

Response Rest::GenerateNow(Exchange& exchange, Named& named, Cancellation* cancellation) {
  RequestBytes& body = exchange.request.body();
  Tenant& tenant = *exchange.admission.tenant;
  const auto metadata = ModelsOf(exchange).Metadata(tenant, named.model, named.version);
  if (!metadata) return ToResponse(metadata.error());
  auto read = ReadGenerate(body.view(), metadata->at("inputs"), body.charge());
  if (!read) return ToResponse(read.error());
  read->infer.model = std::move(named.model);
  read->infer.version = std::move(named.version);
  const auto inferred = ModelsOf(exchange).Infer(tenant, read->infer, cancellation);
  if (!inferred) return ToResponse(inferred.error());
  Response response{.charge = Charge(tenant.budget())};
  auto written = WriteGenerated(*read, *inferred, response.charge);
  if (!written) return ToResponse(written.error());
  response.text = std::move(*written);
  if (named.what == kGenerate) return response;
  response.content_type = "text/event-stream";
  response.text = "data: " + response.text + "\n\n";
  return response;
}

asio::awaitable<std::optional<Response>> Rest::Load(Exchange& exchange, const Named& named) {
  Catalog& models = ModelsOf(exchange);
  const Tenant& tenant = *exchange.admission.tenant;
  if (models.IsLoaded(tenant, named.model, named.version).value_or(false)) co_return std::nullopt;
  Work load = [&](Cancellation*) { return ToResponse(models.CheckReady(tenant, named.model, named.version)); };
  Response loaded = co_await OnWorker(exchange, std::move(load), loads_, PlaceOf(named.model));
  if (loaded.status == http::status::ok) co_return std::nullopt;
  co_return loaded;
}

asio::awaitable<Response> Rest::Generate(Exchange& exchange, Named named) {
  if (exchange.request.method() != http::verb::post) co_return WrongMethod("POST");
  Catalog& models = ModelsOf(exchange);
  const auto served = models.CheckServed(*exchange.admission.tenant, named.model, named.version);
  if (!served) co_return ToResponse(served.error());
  if (auto failed = co_await Load(exchange, named)) co_return std::move(*failed);
  if (models.Generates(named.model, named.version)) {
    const std::string name = named.version.empty() ? named.model : named.model + ":" + named.version;
    co_return co_await openai_.Generate(exchange, name, named.what != kGenerate);
  }
  const Place place = PlaceOf(named.model);
  Workers& workers = models.WorkersFor(named.model, workers_);
  Work work = [&, this](Cancellation* cancellation) { return GenerateNow(exchange, named, cancellation); };
  co_return co_await OnWorker(exchange, std::move(work), workers, place);
}

asio::awaitable<Response> Rest::Infer(Exchange& exchange, Named named) {
  Request& request = exchange.request;
  if (request.method() != http::verb::post) co_return WrongMethod("POST");
  Catalog& models = ModelsOf(exchange);
  const Tenant& tenant = *exchange.admission.tenant;
  if (auto served = models.CheckServed(tenant, named.model, named.version); !served) {
    co_return ToResponse(served.error());
  }
  Work work = [&, this](Cancellation* cancellation) { return InferNow(exchange, named, cancellation); };
  if (models.IsQuick(named.model, named.version, request.body().size())) {
    const bool is_alone = tenant.share().is_alone();
    if (!is_alone) co_await turns_.Await(tenant.share());
    if (auto permit = permits_.Take()) {
      Response response = work(nullptr);
      permit.reset();
      // Requests that have come by now are computed first: all their answers are then written one after the other, and wake a client once.
      // With several tenants, one would wait for the answers of another.
      if (is_alone) co_await asio::defer(asio::use_awaitable);
      co_return response;
    }
  }
  const Place place = PlaceOf(named.model);
  if (auto failed = co_await Load(exchange, named)) co_return std::move(*failed);
  co_return co_await OnWorker(exchange, std::move(work), models.WorkersFor(named.model, workers_), place);
}

// Nobody's load is waited for: what was not loaded has computed nothing.
Response Rest::ModelStatistics(const Exchange& exchange, const Named& named) const {
  Catalog& models = ModelsOf(exchange);
  const auto served = models.CheckServed(*exchange.admission.tenant, named.model, named.version);
  if (!served) return ToResponse(served.error());
  const auto version = models.VersionOf(named.model, named.version);
  if (!version) return ToResponse(version.error());
  return ToResponse(statistics_.Of(named.model, named.version, *version));
}

asio::awaitable<Response> Rest::AnswerModel(Exchange& exchange, Named named) {
  Catalog& models = ModelsOf(exchange);
  const Tenant& tenant = *exchange.admission.tenant;
  if (named.what == "stats") co_return Charged(ModelStatistics(exchange, named), tenant);
  Work work;
  if (named.what.empty()) {
    work = [&](Cancellation*) { return ToResponse(models.Metadata(tenant, named.model, named.version)); };
  } else if (named.what == "config") {
    work = [&](Cancellation*) { return ToResponse(models.Config(tenant, named.model, named.version)); };
  } else if (named.what == "ready") {
    const auto ready = models.LookReady(tenant, named.model, named.version);
    co_return ready ? ToResponse(json{{"name", named.model}, {"ready", true}}) : ToResponse(ready.error());
  } else {
    co_return NotFound();
  }
  const auto is_loaded = models.IsLoaded(tenant, named.model, named.version);
  if (!is_loaded) co_return ToResponse(is_loaded.error());
  if (*is_loaded) co_return Charged(work(nullptr), tenant);
  co_return co_await OnWorker(exchange, std::move(work), loads_, PlaceOf(named.model));
}

json Rest::AllStatistics(const Exchange& exchange) const {
  return statistics_.All([&](const std::string& model) { return exchange.admission.tenant->Sees(model); });
}

Response Rest::Index(const Exchange& exchange) const {
  const RequestBytes& body = exchange.request.body();
  if (body.size() > kMostInline)
    return ErrorResponse(http::status::payload_too_large, "the request is too large for it");
  const auto ready_alone = ReadIndexRequest(body.view());
  return ready_alone ? ToResponse(ModelsOf(exchange).Index(*exchange.admission.tenant, *ready_alone))
                     : ToResponse(ready_alone.error());
}

asio::awaitable<Response> Rest::AnswerRepository(Exchange& exchange, const Words& words) {
  if (exchange.request.method() != http::verb::post) co_return WrongMethod("POST");
  if (words.size() == 2 && words[1] == "index") co_return Charged(Index(exchange), *exchange.admission.tenant);
  if (words.size() != 4 || words[1] != "models") co_return NotFound();
  Catalog& models = ModelsOf(exchange);
  const Tenant& tenant = *exchange.admission.tenant;
  exchange.about.model = Bounded(words[2], kMostLogged);
  const bool loads = words[3] == "load";
  if (!loads && words[3] != "unload") co_return NotFound();
  const auto place = loads ? models.PlaceOfLoad(tenant, words[2]) : models.PlaceOfUnload(tenant, words[2]);
  if (!place) co_return ToResponse(place.error());
  Work work = [&](Cancellation*) { return ToResponse(models.Unload(tenant, words[2])); };
  if (loads) {
    if (auto taken = CheckLoadRequest(exchange.request.body().view()); !taken) co_return ToResponse(taken.error());
    work = [&](Cancellation*) { return ToResponse(models.Load(tenant, words[2])); };
  }
  co_return co_await OnWorker(exchange, std::move(work), loads_, *place);
}

asio::awaitable<Response> Rest::Answer(Exchange& exchange) {
  const Request& request = exchange.request;
  Words words = PathWords({request.target().data(), request.target().size()});
  if (words == Words{"version"} && IsGet(request)) co_return ToResponse(json{{"version", wasinn_version()}});  // vLLM's
  if (words.empty() || words[0] != "v2") co_return NotFound();
  words.erase(words.begin());
  if (!words.empty() && words[0] == "repository") co_return co_await AnswerRepository(exchange, words);
  const bool names_model = words.size() > 1 && words[0] == "models";
  Named named = names_model ? NamedBy(words) : Named();
  exchange.about.model = Bounded(named.model, kMostLogged);
  if (named.what == "infer") {
    Response response = co_await Infer(exchange, std::move(named));
    if (request.count(http::field::accept_encoding) == 0) co_return response;
    co_return co_await DeflateResponse(exchange, std::move(response), workers_);
  }
  if (named.what == kGenerate || named.what == kGenerateStream) co_return co_await Generate(exchange, std::move(named));
  if (const char* const extension = ExtensionNotServed(words, named.what)) {
    co_return ErrorResponse(http::status::not_found, fmt::format("Triton's extension for {} is not served", extension));
  }
  if (!IsGet(request)) co_return WrongMethod("GET");
  if (words.empty()) co_return ToResponse(ServerMetadata());
  if (words.size() == 2 && words[0] == "health") co_return Health(exchange, words[1]);
  if (words == Words{"models", "stats"})
    co_return Charged(ToResponse(AllStatistics(exchange)), *exchange.admission.tenant);
  if (names_model) co_return co_await AnswerModel(exchange, std::move(named));
  co_return NotFound();
}

}  // namespace wasinn::serve
