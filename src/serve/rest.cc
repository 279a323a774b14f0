#include "serve/rest.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "serve/access_log.h"
#include "serve/content_encoding.h"
#include "serve/generation.h"
#include "serve/json_response.h"
#include "serve/server_metadata.h"
#include "serve/target.h"

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

Catalog& ModelsOf(const Asked& asked) { return asked.admission.generation->models(); }

// Where the JSON of a body ends.
Outcome<size_t> JsonSize(const Request& request, uint64_t most) {
  const auto length = request.find(kHeaderLength);
  if (length == request.end()) return request.body().size();
  const boost::beast::string_view text = length->value();
  size_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::unexpected(Invalid(fmt::format("{} is not a length", kHeaderLength)));
  }
  if (size <= most) return size;
  return std::unexpected(Failure{WASINN_ERROR_TOO_LARGE, fmt::format("the JSON is larger than {} bytes", most)});
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

// What is told of models is as long as they have inputs, and there are models.
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

asio::awaitable<Response> Rest::OnWorker(Asked& asked, Work work, Workers& workers, Place place) {
  const std::shared_ptr<Cancellation> cancellation = asked.watch();
  std::function<Response()> run = [work = std::move(work), cancellation] { return work(cancellation.get()); };
  Outcome<Response> done =
      co_await workers.Do(std::move(run), asked.admission.tenant->share(), cancellation.get(), place);
  if (!done) co_return ToResponse(done.error());
  co_return Charged(std::move(*done), *asked.admission.tenant);
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

Response Rest::Health(const Asked& asked, std::string_view what) {
  if (what == "live") return ToResponse(json{{"live", true}});
  if (what != "ready") return NotFound();
  if (!is_draining_.load(std::memory_order_relaxed)) {
    const auto ready = asked.admission.generation->repository().CheckReady();
    return ready ? ToResponse(json{{"ready", true}}) : ToResponse(ready.error());
  }
  return ErrorResponse(http::status::service_unavailable, "the server is shutting down");
}

// On whatever thread. The request's body is not needed afterwards.
Response Rest::InferNow(Asked& asked, Named& named, Cancellation* cancellation) {
  Request& request = asked.request;
  const auto json_size = JsonSize(request, limits_.most_json);
  if (!json_size) return ToResponse(json_size.error());
  auto read = ReadRequest(request.body().view(), *json_size, request.body().charge());
  if (!read) return ToResponse(read.error());
  read->infer.model = std::move(named.model);
  read->infer.version = std::move(named.version);
  Outcome<InferResponse> inferred = ModelsOf(asked).Infer(*asked.admission.tenant, read->infer, cancellation);
  if (!inferred) return ToResponse(inferred.error());
  Charge charge(asked.admission.tenant->budget());
  Outcome<RestResponse> written = WriteResponse(*read, std::move(*inferred), charge);
  if (!written) return ToResponse(written.error());
  Response response = ToResponse(std::move(*written));
  response.charge = std::move(charge);
  return response;
}

Response Rest::GenerateNow(Asked& asked, Named& named, Cancellation* cancellation) {
  RequestBytes& body = asked.request.body();
  Tenant& tenant = *asked.admission.tenant;
  const auto metadata = ModelsOf(asked).Metadata(tenant, named.model, named.version);
  if (!metadata) return ToResponse(metadata.error());
  auto read = ReadGenerate(body.view(), metadata->at("inputs"), body.charge());
  if (!read) return ToResponse(read.error());
  read->infer.model = std::move(named.model);
  read->infer.version = std::move(named.version);
  const auto inferred = ModelsOf(asked).Infer(tenant, read->infer, cancellation);
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

asio::awaitable<std::optional<Response>> Rest::Load(Asked& asked, const Named& named) {
  Catalog& models = ModelsOf(asked);
  const Tenant& tenant = *asked.admission.tenant;
  if (models.IsLoaded(tenant, named.model, named.version).value_or(false)) co_return std::nullopt;
  Work load = [&](Cancellation*) { return ToResponse(models.CheckReady(tenant, named.model, named.version)); };
  Response loaded = co_await OnWorker(asked, std::move(load), loads_, PlaceOf(named.model));
  if (loaded.status == http::status::ok) co_return std::nullopt;
  co_return loaded;
}

asio::awaitable<Response> Rest::Generate(Asked& asked, Named named) {
  if (asked.request.method() != http::verb::post) co_return WrongMethod("POST");
  Catalog& models = ModelsOf(asked);
  const auto served = models.CheckServed(*asked.admission.tenant, named.model, named.version);
  if (!served) co_return ToResponse(served.error());
  if (auto failed = co_await Load(asked, named)) co_return std::move(*failed);
  if (models.Generates(named.model, named.version)) {
    const std::string name = named.version.empty() ? named.model : named.model + ":" + named.version;
    co_return co_await openai_.Generate(asked, name, named.what != kGenerate);
  }
  const Place place = PlaceOf(named.model);
  Workers& workers = models.WorkersFor(named.model, workers_);
  Work work = [&, this](Cancellation* cancellation) { return GenerateNow(asked, named, cancellation); };
  co_return co_await OnWorker(asked, std::move(work), workers, place);
}

asio::awaitable<Response> Rest::Infer(Asked& asked, Named named) {
  Request& request = asked.request;
  if (request.method() != http::verb::post) co_return WrongMethod("POST");
  Catalog& models = ModelsOf(asked);
  const Tenant& tenant = *asked.admission.tenant;
  if (auto served = models.CheckServed(tenant, named.model, named.version); !served) {
    co_return ToResponse(served.error());
  }
  Work work = [&, this](Cancellation* cancellation) { return InferNow(asked, named, cancellation); };
  if (models.IsQuick(named.model, named.version, request.body().size())) {
    if (!tenant.share().is_alone()) co_await turns_.Await(tenant.share());
    if (const auto permit = permits_.Take()) co_return work(nullptr);
  }
  const Place place = PlaceOf(named.model);
  if (auto failed = co_await Load(asked, named)) co_return std::move(*failed);
  co_return co_await OnWorker(asked, std::move(work), models.WorkersFor(named.model, workers_), place);
}

// Nobody's load is waited for: what was not loaded has computed nothing.
Response Rest::ModelStatistics(const Asked& asked, const Named& named) const {
  Catalog& models = ModelsOf(asked);
  const auto served = models.CheckServed(*asked.admission.tenant, named.model, named.version);
  if (!served) return ToResponse(served.error());
  const auto version = models.VersionOf(named.model, named.version);
  if (!version) return ToResponse(version.error());
  return ToResponse(statistics_.Of(named.model, named.version, *version));
}

asio::awaitable<Response> Rest::AnswerModel(Asked& asked, Named named) {
  Catalog& models = ModelsOf(asked);
  const Tenant& tenant = *asked.admission.tenant;
  if (named.what == "stats") co_return Charged(ModelStatistics(asked, named), tenant);
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
  co_return co_await OnWorker(asked, std::move(work), loads_, PlaceOf(named.model));
}

json Rest::AllStatistics(const Asked& asked) const {
  return statistics_.All([&](const std::string& model) { return asked.admission.tenant->Sees(model); });
}

Response Rest::Index(const Asked& asked) const {
  const RequestBytes& body = asked.request.body();
  if (body.size() > kMostInline)
    return ErrorResponse(http::status::payload_too_large, "the request is too large for it");
  const auto ready_alone = ReadIndexRequest(body.view());
  return ready_alone ? ToResponse(ModelsOf(asked).Index(*asked.admission.tenant, *ready_alone))
                     : ToResponse(ready_alone.error());
}

asio::awaitable<Response> Rest::AnswerRepository(Asked& asked, const Words& words) {
  if (asked.request.method() != http::verb::post) co_return WrongMethod("POST");
  if (words.size() == 2 && words[1] == "index") co_return Charged(Index(asked), *asked.admission.tenant);
  if (words.size() != 4 || words[1] != "models") co_return NotFound();
  Catalog& models = ModelsOf(asked);
  const Tenant& tenant = *asked.admission.tenant;
  asked.about.model = Bounded(words[2], kMostLogged);
  Work work;
  if (words[3] == "load") {
    if (auto taken = CheckLoadRequest(asked.request.body().view()); !taken) co_return ToResponse(taken.error());
    work = [&](Cancellation*) { return ToResponse(models.Load(tenant, words[2])); };
  } else if (words[3] == "unload") {
    work = [&](Cancellation*) { return ToResponse(models.Unload(tenant, words[2])); };
  } else {
    co_return NotFound();
  }
  // No unload waits for a load.
  const Place place = PlaceOf(words[3] == "load" ? words[2] : words[2] + " unload");
  co_return co_await OnWorker(asked, std::move(work), loads_, place);
}

asio::awaitable<Response> Rest::Answer(Asked& asked) {
  const Request& request = asked.request;
  Words words = PathWords({request.target().data(), request.target().size()});
  if (words == Words{"version"} && IsGet(request)) co_return ToResponse(json{{"version", wasinn_version()}});  // vLLM's
  if (words.empty() || words[0] != "v2") co_return NotFound();
  words.erase(words.begin());
  if (!words.empty() && words[0] == "repository") co_return co_await AnswerRepository(asked, words);
  const bool names_model = words.size() > 1 && words[0] == "models";
  Named named = names_model ? NamedBy(words) : Named();
  asked.about.model = Bounded(named.model, kMostLogged);
  if (named.what == "infer") {
    Response response = co_await Infer(asked, std::move(named));
    if (request.count(http::field::accept_encoding) == 0) co_return response;
    co_return co_await DeflateResponse(asked, std::move(response), workers_);
  }
  if (named.what == kGenerate || named.what == kGenerateStream) co_return co_await Generate(asked, std::move(named));
  if (const char* const extension = ExtensionNotServed(words, named.what)) {
    co_return ErrorResponse(http::status::not_found, fmt::format("Triton's extension for {} is not served", extension));
  }
  if (!IsGet(request)) co_return WrongMethod("GET");
  if (words.empty()) co_return ToResponse(ServerMetadata());
  if (words.size() == 2 && words[0] == "health") co_return Health(asked, words[1]);
  if (words == Words{"models", "stats"}) co_return Charged(ToResponse(AllStatistics(asked)), *asked.admission.tenant);
  if (names_model) co_return co_await AnswerModel(asked, std::move(named));
  co_return NotFound();
}

}  // namespace wasinn::serve
