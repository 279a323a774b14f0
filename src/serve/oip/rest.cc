#include "serve/oip/rest.h"

#include <fmt/format.h>

#include <boost/asio/defer.hpp>

#include <algorithm>
#include <utility>

#include "base/number.h"
#include "serve/generation.h"
#include "serve/http/content_encoding.h"
#include "serve/http/target.h"
#include "serve/metrics/access_log.h"
#include "serve/oip/rest_message.h"

namespace wasinn::serve {
namespace {

using nlohmann::json;

constexpr char kHeaderLength[] = "Inference-Header-Content-Length";
constexpr std::string_view kGenerate = "generate", kGenerateStream = "generate_stream";

Response ToResponse(const json& answer) {
  Response response;
  response.text = Dump(answer);
  return response;
}

// The unsupported extension of Triton's that a request asks for; NULL: none.
const char* ExtensionNotServed(const std::vector<std::string>& words, std::string_view of_model) {
  const std::string_view first = words.empty() ? std::string_view() : words[0];
  if (first == "trace" || of_model == "trace/setting") return "trace settings";
  if (first == "logging") return "log settings";
  if (first == "systemsharedmemory" || first == "cudasharedmemory") return "shared memory";
  return nullptr;
}

bool IsGet(const Request& request) {
  return request.method() == http::verb::get || request.method() == http::verb::head;
}

Catalog& ModelsOf(const Exchange& exchange) { return exchange.admission.generation->models(); }

// The size of the JSON at the beginning of a body.
size_t JsonSize(const Request& request, uint64_t most) {
  const auto length = request.find(kHeaderLength);
  if (length == request.end()) return request.body().size();
  const auto size = base::ParseNumber<size_t>(length->value());
  if (!size) ThrowInvalid("{} is not a length", kHeaderLength);
  if (*size <= most) return *size;
  Throw(WASINN_ERROR_TOO_LARGE, "the JSON is larger than {} bytes", most);
}

// A load with a configuration or files of its own would give other models than the client has asked for.
void CheckLoadRequest(std::string_view body) {
  if (body.size() > kMaxInline) return CheckLoadParameter("file:");  // nothing else is so large
  const json request = json::parse(body, nullptr, false);
  if (!request.is_object() || !request.contains("parameters") || !request["parameters"].is_object()) return;
  for (const auto& [name, value] : request["parameters"].items()) {
    CheckLoadParameter(name);
  }
}

// Metadata of models may be long: they grow with the models and their inputs.
Response Charged(Response response, const Tenant& tenant) {
  if (response.charge.bytes() > 0 || response.text.size() <= kMaxUncharged) return response;
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

uint64_t Rest::MaxBody(const Header& header) const {
  return header.count(kHeaderLength) > 0 ? limits_.most_body : MaxJson();
}

uint64_t Rest::MaxJson() const { return std::min(limits_.most_json, limits_.most_body); }

asio::awaitable<Response> Rest::OnWorker(Exchange& exchange, Work work, Workers& workers, Place place) {
  const std::shared_ptr<Cancellation> cancellation = exchange.watch();
  std::function<Response()> run = [work = std::move(work), cancellation] { return work(cancellation.get()); };
  const Tenant& tenant = *exchange.admission.tenant;
  co_return Charged(co_await workers.Do(std::move(run), tenant.share(), cancellation.get(), place), tenant);
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
    exchange.admission.generation->repository().CheckReady();
    return ToResponse(json{{"ready", true}});
  }
  return ErrorResponse(http::status::service_unavailable, "the server is shutting down");
}

// On any thread. The request's body is not needed afterwards.
Response Rest::InferNow(Exchange& exchange, Named& named, Cancellation* cancellation) {
  Request& request = exchange.request;
  const size_t json_size = JsonSize(request, limits_.most_json);
  RestRequest read = ReadRequest(request.body().view(), json_size, request.body().charge());
  read.infer.model = std::move(named.model);
  read.infer.version = std::move(named.version);
  Tenant& tenant = *exchange.admission.tenant;
  InferResponse inferred = ModelsOf(exchange).Infer(tenant, read.infer, cancellation);
  Charge charge(tenant.budget());
  Response response = ToResponse(WriteResponse(read, std::move(inferred), charge));
  response.charge = std::move(charge);
  return response;
}

Response Rest::GenerateNow(Exchange& exchange, Named& named, Cancellation* cancellation) {
  RequestBytes& body = exchange.request.body();
  Tenant& tenant = *exchange.admission.tenant;
  const json metadata = ModelsOf(exchange).Metadata(tenant, named.model, named.version);
  RestRequest read = ReadGenerate(body.view(), metadata.at("inputs"), body.charge());
  read.infer.model = std::move(named.model);
  read.infer.version = std::move(named.version);
  const InferResponse inferred = ModelsOf(exchange).Infer(tenant, read.infer, cancellation);
  Response response{.charge = Charge(tenant.budget())};
  response.text = WriteGenerated(read, inferred, response.charge);
  if (named.what == kGenerate) return response;
  response.content_type = "text/event-stream";
  response.text = "data: " + response.text + "\n\n";
  return response;
}

asio::awaitable<void> Rest::Load(Exchange& exchange, const Named& named) {
  Catalog& models = ModelsOf(exchange);
  const Tenant& tenant = *exchange.admission.tenant;
  if (Try([&] { return models.IsLoaded(tenant, named.model, named.version); }).value_or(false)) co_return;
  Work load = [&](Cancellation*) {
    models.CheckReady(tenant, named.model, named.version);
    return Response();
  };
  (void)co_await OnWorker(exchange, std::move(load), loads_, PlaceOf(named.model));
}

asio::awaitable<Response> Rest::Generate(Exchange& exchange, Named named) {
  if (exchange.request.method() != http::verb::post) co_return WrongMethod("POST");
  Catalog& models = ModelsOf(exchange);
  models.CheckServed(*exchange.admission.tenant, named.model, named.version);
  co_await Load(exchange, named);
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
  models.CheckServed(tenant, named.model, named.version);
  Work work = [&, this](Cancellation* cancellation) { return InferNow(exchange, named, cancellation); };
  if (models.IsQuick(named.model, named.version, request.body().size())) {
    const bool is_alone = tenant.share().is_alone();
    if (!is_alone) co_await turns_.Await(tenant.share());
    if (auto permit = permits_.Take()) {
      Response response = work(nullptr);
      permit.reset();
      // Requests that have come by now are computed first: their answers are then written one after the other, and wake
      // a client once. With several tenants, one would wait for the answers of another.
      if (is_alone) co_await asio::defer(asio::use_awaitable);
      co_return response;
    }
  }
  const Place place = PlaceOf(named.model);
  co_await Load(exchange, named);
  co_return co_await OnWorker(exchange, std::move(work), models.WorkersFor(named.model, workers_), place);
}

// Waits for no load: a model that was not loaded has computed nothing.
Response Rest::ModelStatistics(const Exchange& exchange, const Named& named) const {
  Catalog& models = ModelsOf(exchange);
  models.CheckServed(*exchange.admission.tenant, named.model, named.version);
  return ToResponse(statistics_.Of(named.model, named.version, models.VersionOf(named.model, named.version)));
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
    models.LookReady(tenant, named.model, named.version);
    co_return ToResponse(json{{"name", named.model}, {"ready", true}});
  } else {
    co_return NotFound();
  }
  if (models.IsLoaded(tenant, named.model, named.version)) co_return Charged(work(nullptr), tenant);
  co_return co_await OnWorker(exchange, std::move(work), loads_, PlaceOf(named.model));
}

Response Rest::Index(const Exchange& exchange) const {
  const RequestBytes& body = exchange.request.body();
  if (body.size() > kMaxInline)
    return ErrorResponse(http::status::payload_too_large, "the request is too large for it");
  const bool ready_alone = ReadIndexRequest(body.view());
  return ToResponse(ModelsOf(exchange).Index(*exchange.admission.tenant, ready_alone));
}

asio::awaitable<Response> Rest::AnswerRepository(Exchange& exchange, const Words& words) {
  if (exchange.request.method() != http::verb::post) co_return WrongMethod("POST");
  if (words.size() == 2 && words[1] == "index") co_return Charged(Index(exchange), *exchange.admission.tenant);
  if (words.size() != 4 || words[1] != "models") co_return NotFound();
  Catalog& models = ModelsOf(exchange);
  const Tenant& tenant = *exchange.admission.tenant;
  exchange.about.model = Bounded(words[2], kMaxLogged);
  const bool loads = words[3] == "load";
  if (!loads && words[3] != "unload") co_return NotFound();
  const Place place = loads ? models.PlaceOfLoad(tenant, words[2]) : models.PlaceOfUnload(tenant, words[2]);
  if (loads) CheckLoadRequest(exchange.request.body().view());
  Work work = [&](Cancellation*) {
    loads ? models.Load(tenant, words[2]) : models.Unload(tenant, words[2]);
    return Response{.content_type = ""};
  };
  co_return co_await OnWorker(exchange, std::move(work), loads_, place);
}

asio::awaitable<Response> Rest::Answer(Exchange& exchange) {
  try {
    const Request& request = exchange.request;
    Words words = PathWords({request.target().data(), request.target().size()});
    if (words == Words{"version"} && IsGet(request))
      co_return ToResponse(json{{"version", wasinn_version()}});  // vLLM's
    if (words.empty() || words[0] != "v2") co_return NotFound();
    words.erase(words.begin());
    if (!words.empty() && words[0] == "repository") co_return co_await AnswerRepository(exchange, words);
    const bool names_model = words.size() > 1 && words[0] == "models";
    Named named = names_model ? NamedBy(words) : Named();
    exchange.about.model = Bounded(named.model, kMaxLogged);
    if (named.what == "infer") {
      Response response = co_await Infer(exchange, std::move(named));
      if (request.count(http::field::accept_encoding) == 0) co_return response;
      co_return co_await DeflateResponse(exchange, std::move(response), workers_);
    }
    if (named.what == kGenerate || named.what == kGenerateStream)
      co_return co_await Generate(exchange, std::move(named));
    if (const char* const extension = ExtensionNotServed(words, named.what)) {
      co_return ErrorResponse(http::status::not_found,
                              fmt::format("Triton's extension for {} is not served", extension));
    }
    if (!IsGet(request)) co_return WrongMethod("GET");
    if (words.empty()) co_return ToResponse(ServerMetadata());
    if (words.size() == 2 && words[0] == "health") co_return Health(exchange, words[1]);
    if (words == Words{"models", "stats"}) {
      const Tenant& tenant = *exchange.admission.tenant;
      co_return Charged(ToResponse(statistics_.All([&](const std::string& model) { return tenant.Sees(model); })),
                        tenant);
    }
    if (names_model) co_return co_await AnswerModel(exchange, std::move(named));
    co_return NotFound();
  } catch (const Failure& failure) {
    co_return ToResponse(failure);
  }
}

}  // namespace wasinn::serve
