#include "serve/oip/rest.h"

#include <fmt/format.h>

#include <boost/asio/defer.hpp>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "base/number.h"
#include "serve/generation.h"
#include "serve/http/content_encoding.h"
#include "serve/http/http_message.h"
#include "serve/metrics/access_log.h"
#include "serve/models/known_models.h"
#include "serve/oip/rest_message.h"

namespace wasinn::serve {
namespace {

using nlohmann::json;

constexpr char kHeaderLength[] = "Inference-Header-Content-Length";
constexpr std::string_view kGenerate = "generate", kGenerateStream = "generate_stream";

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

// models/NAME[/versions/VERSION][/WHAT]
struct NamedModel {
  std::string model, version;
  std::string what;  // "infer"; "": the model itself

  static NamedModel By(const std::vector<std::string>& words) {
    NamedModel named{.model = words[1], .version = {}, .what = {}};
    size_t next = 2;
    if (words.size() > 3 && words[2] == "versions") {
      named.version = words[3];
      next = 4;
    }
    for (; next < words.size(); ++next) named.what += (named.what.empty() ? "" : "/") + words[next];
    return named;
  }
};

// Answers one request. Its functions throw Failure.
class RestHandler {
 public:
  RestHandler(const Rest::Parts& parts, bool is_draining, Exchange& exchange)
      : parts_(parts),
        is_draining_(is_draining),
        exchange_(exchange),
        tenant_(*exchange.admission.tenant),
        models_(exchange.admission.generation->models()) {}

  asio::awaitable<Response> Answer() {
    const Request& request = exchange_.request;
    Words words = PathWords({request.target().data(), request.target().size()});
    if (words == Words{"version"} && IsGet(request))
      co_return JsonResponse(json{{"version", wasinn_version()}});  // vLLM's
    if (words.empty() || words[0] != "v2") co_return NotFound();
    words.erase(words.begin());
    if (!words.empty() && words[0] == "repository") co_return co_await AnswerRepository(words);
    const bool names_model = words.size() > 1 && words[0] == "models";
    if (names_model) named_ = NamedModel::By(words);
    exchange_.about.model = Bounded(named_.model, kMaxLogged);
    if (named_.what == "infer") {
      Response response = co_await Infer();
      if (request.count(http::field::accept_encoding) == 0) co_return response;
      co_return co_await DeflateResponse(exchange_, std::move(response), parts_.workers);
    }
    if (named_.what == kGenerate || named_.what == kGenerateStream) co_return co_await Generate();
    if (const char* const extension = ExtensionNotServed(words, named_.what)) {
      co_return ErrorResponse(http::status::not_found,
                              fmt::format("Triton's extension for {} is not served", extension));
    }
    if (!IsGet(request)) co_return WrongMethod("GET");
    if (words.empty()) co_return JsonResponse(ServerMetadata());
    if (words.size() == 2 && words[0] == "health") co_return Health(words[1]);
    if (words == Words{"models", "stats"}) {
      co_return Charged(parts_.statistics.All([this](const std::string& model) { return tenant_.Sees(model); }));
    }
    if (names_model) co_return co_await AnswerModel();
    co_return NotFound();
  }

 private:
  using Words = std::vector<std::string>;
  using Work = std::function<Response(Cancellation* cancellation)>;

  // Metadata of models may be long: they grow with the models and their inputs.
  Response Charged(Response response) const {
    if (response.charge.bytes() > 0 || response.text.size() <= kMaxUncharged) return response;
    response.charge = Charge(tenant_.budget());
    if (response.charge.Add(response.text.size())) return response;
    return ToResponse(NoMemory());
  }
  Response Charged(const json& answer) const { return Charged(JsonResponse(answer)); }

  asio::awaitable<Response> OnWorker(Work work, Workers& workers, Place place) {
    const std::shared_ptr<Cancellation> cancellation = exchange_.watch();
    std::function<Response()> run = [work = std::move(work), cancellation] { return work(cancellation.get()); };
    co_return Charged(co_await workers.Do(std::move(run), tenant_.share(), cancellation.get(), place));
  }
  asio::awaitable<Response> OnModelsWorker(Work work) {
    return OnWorker(std::move(work), models_.WorkersFor(named_.model, parts_.workers), PlaceOf(named_.model));
  }

  Response Health(std::string_view what) const {
    if (what == "live") return JsonResponse(json{{"live", true}});
    if (what != "ready") return NotFound();
    if (is_draining_) return ErrorResponse(http::status::service_unavailable, "the server is shutting down");
    exchange_.admission.generation->repository().CheckReady();
    return JsonResponse(json{{"ready", true}});
  }

  // On any thread. The request's body is not needed afterwards.
  Response InferNow(Cancellation* cancellation) {
    Request& request = exchange_.request;
    const size_t json_size = JsonSize(request, parts_.limits.most_json);
    RestRequest read = ReadRequest(request.body().view(), json_size, request.body().charge());
    read.infer.model = std::move(named_.model);
    read.infer.version = std::move(named_.version);
    InferResponse inferred = models_.Infer(tenant_, read.infer, cancellation);
    Charge charge(tenant_.budget());
    Response response = ToResponse(WriteResponse(read, std::move(inferred), charge));
    response.charge = std::move(charge);
    return response;
  }
  Response GenerateNow(Cancellation* cancellation) {
    RequestBytes& body = exchange_.request.body();
    const json metadata = models_.Metadata(tenant_, named_.model, named_.version);
    RestRequest read = ReadGenerate(body.view(), metadata.at("inputs"), body.charge());
    read.infer.model = std::move(named_.model);
    read.infer.version = std::move(named_.version);
    const InferResponse inferred = models_.Infer(tenant_, read.infer, cancellation);
    Response response{.charge = Charge(tenant_.budget())};
    response.text = WriteGenerated(read, inferred, response.charge);
    if (named_.what == kGenerate) return response;
    response.content_type = "text/event-stream";
    response.text = "data: " + response.text + "\n\n";
    return response;
  }

  // Loads the model if necessary.
  asio::awaitable<void> Load() {
    if (Try([&] { return models_.IsLoaded(tenant_, named_.model, named_.version); }).value_or(false)) co_return;
    Work load = [this](Cancellation*) {
      models_.CheckReady(tenant_, named_.model, named_.version);
      return Response();
    };
    (void)co_await OnWorker(std::move(load), parts_.loads, PlaceOf(named_.model));
  }

  // Triton's extension: a text of a language model, or an inference by fields.
  asio::awaitable<Response> Generate() {
    if (exchange_.request.method() != http::verb::post) co_return WrongMethod("POST");
    models_.CheckServed(tenant_, named_.model, named_.version);
    co_await Load();
    if (models_.Generates(named_.model, named_.version)) {
      const std::string name = NameOf(named_.model, named_.version);
      co_return co_await parts_.openai.Generate(exchange_, name, named_.what != kGenerate);
    }
    co_return co_await OnModelsWorker([this](Cancellation* cancellation) { return GenerateNow(cancellation); });
  }

  asio::awaitable<Response> Infer() {
    if (exchange_.request.method() != http::verb::post) co_return WrongMethod("POST");
    models_.CheckServed(tenant_, named_.model, named_.version);
    if (models_.IsQuick(named_.model, named_.version, exchange_.request.body().size())) {
      const bool is_alone = tenant_.share().is_alone();
      if (!is_alone) co_await parts_.turns.Await(tenant_.share());
      if (auto permit = parts_.permits.Take()) {
        Response response = InferNow(nullptr);
        permit.reset();
        // Requests that have come by now are computed first: their answers are then written one after the other, and
        // wake a client once. With several tenants, one would wait for the answers of another.
        if (is_alone) co_await asio::defer(asio::use_awaitable);
        co_return response;
      }
    }
    co_await Load();
    co_return co_await OnModelsWorker([this](Cancellation* cancellation) { return InferNow(cancellation); });
  }

  asio::awaitable<Response> AnswerModel() {
    if (named_.what == "stats") {  // waits for no load: a model that was not loaded has computed nothing
      models_.CheckServed(tenant_, named_.model, named_.version);
      const std::string version = models_.VersionOf(named_.model, named_.version);
      co_return Charged(parts_.statistics.Of(named_.model, named_.version, version));
    }
    Work work;
    if (named_.what.empty()) {
      work = [this](Cancellation*) { return JsonResponse(models_.Metadata(tenant_, named_.model, named_.version)); };
    } else if (named_.what == "config") {
      work = [this](Cancellation*) { return JsonResponse(models_.Config(tenant_, named_.model, named_.version)); };
    } else if (named_.what == "ready") {
      models_.LookReady(tenant_, named_.model, named_.version);
      co_return JsonResponse(json{{"name", named_.model}, {"ready", true}});
    } else {
      co_return NotFound();
    }
    if (models_.IsLoaded(tenant_, named_.model, named_.version)) co_return Charged(work(nullptr));
    co_return co_await OnWorker(std::move(work), parts_.loads, PlaceOf(named_.model));
  }

  asio::awaitable<Response> AnswerRepository(const Words& words) {
    if (exchange_.request.method() != http::verb::post) co_return WrongMethod("POST");
    const RequestBytes& body = exchange_.request.body();
    if (words.size() == 2 && words[1] == "index") {
      if (body.size() > kMaxInline)
        co_return ErrorResponse(http::status::payload_too_large, "the request is too large for it");
      co_return Charged(models_.Index(tenant_, ReadIndexRequest(body.view())));
    }
    if (words.size() != 4 || words[1] != "models") co_return NotFound();
    const std::string& model = words[2];
    exchange_.about.model = Bounded(model, kMaxLogged);
    const bool loads = words[3] == "load";
    if (!loads && words[3] != "unload") co_return NotFound();
    const Place place = loads ? models_.PlaceOfLoad(tenant_, model) : models_.PlaceOfUnload(tenant_, model);
    if (loads) CheckLoadRequest(body.view());
    Work work = [&](Cancellation*) {
      loads ? models_.Load(tenant_, model) : models_.Unload(tenant_, model);
      return Response{.content_type = ""};
    };
    co_return co_await OnWorker(std::move(work), parts_.loads, place);
  }

  const Rest::Parts& parts_;
  const bool is_draining_;
  Exchange& exchange_;
  Tenant& tenant_;
  Catalog& models_;
  NamedModel named_;
};

}  // namespace

uint64_t Rest::MaxBody(const Header& header) const {
  return header.count(kHeaderLength) > 0 ? parts_.limits.most_body : MaxJson();
}

uint64_t Rest::MaxJson() const { return std::min(parts_.limits.most_json, parts_.limits.most_body); }

asio::awaitable<Response> Rest::Answer(Exchange& exchange) {
  RestHandler handler(parts_, is_draining_.load(std::memory_order_relaxed), exchange);
  try {
    co_return co_await handler.Answer();
  } catch (const Failure& failure) {
    co_return ToResponse(failure);
  }
}

}  // namespace wasinn::serve
