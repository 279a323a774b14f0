#include "serve/openai/openai.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "serve/generation.h"
#include "serve/metrics/access_log.h"
#include "serve/openai/fields.h"
#include "serve/openai/paths.h"
#include "serve/openai/upstream_call.h"
#include "serve/openai/vectors.h"

namespace wasinn::serve::openai {
namespace {

using nlohmann::json;

constexpr char kOwner[] = "wasinn";
const Place kReading = PlaceOf("");  // bodies, before their model is known
// The bytes of a number in an answer: as an object, and as text.
constexpr uint64_t kMaxOfNumber = 48;

TextModels& TextsOf(const Exchange& exchange) { return exchange.admission.generation->texts(); }

Response ToResponse(const json& answer) {
  Response response;
  response.text = Dump(answer);
  return response;
}

// Refuses other methods.
void CheckMethod(const Request& request, http::verb method) {
  const bool is_it = request.method() == method || (method == http::verb::get && request.method() == http::verb::head);
  if (is_it) return;
  throw ApiError{.status = http::status::method_not_allowed,
                 .message = fmt::format("only {} is known here", std::string(http::to_string(method)))};
}

// Adds vLLM's fields to OpenAI's.
json ToModel(const TextModels& texts, const std::string& id, const TextModels::Name& name) {
  static const int64_t created = UnixTime();
  json model = {{"id", id}, {"object", "model"}, {"created", created}, {"owned_by", kOwner}, {"root", name.model}};
  model["parent"] = name.adapter.empty() ? json() : json(name.model);
  if (const uint32_t context = texts.ContextOf(name); context > 0) model["max_model_len"] = context;
  return model;
}

// Uses the adapter that the model's name contains.
void UseAdapter(const TextModels::Name& name, std::string& options) {
  if (name.adapter.empty()) return;
  if (options.contains(R"("lora":)")) ThrowWrong("lora", "lora is set, but the model's name already has an adapter");
  AddOption(options, "lora", Dump(name.adapter));
}

Charge NewCharge(const Tenant& tenant, uint64_t bytes) {
  Charge charge(tenant.budget());
  if (!charge.Add(bytes)) throw NoMemory();
  return charge;
}

// For a whole answer, instead of its parts.
void ChargeAnswer(Charge charge, uint64_t most, Response& response) {
  charge.ShrinkTo(0);
  if (!charge.Add(most)) throw NoMemory();
  response.charge = std::move(charge);
}

// Keeps proxies from buffering the stream.
void AddStreamHeaders(Response& response) {
  response.headers.emplace_back("Cache-Control", "no-cache");
  response.headers.emplace_back("X-Accel-Buffering", "no");
}

[[noreturn]] void ThrowNoModel(const Failure& failure) {
  ApiError error = ToApiError(failure);
  error.param = "model";
  if (error.status == http::status::not_found) error.code = "model_not_found";
  throw error;
}

}  // namespace

bool OpenAi::Has(const Header& request) { return IsOurs({request.target().data(), request.target().size()}); }

template <typename T>
asio::awaitable<T> OpenAi::On(Workers& workers, Exchange& exchange, Place place, Cancellation* cancellation,
                              std::function<T()> work) {
  co_return co_await workers.Do(std::move(work), exchange.admission.tenant->share(), cancellation, place);
}

template <typename T>
asio::awaitable<T> OpenAi::Read(Exchange& exchange, T (*read)(simdjson::dom::element)) {
  RequestBytes& body = exchange.request.body();
  CheckMethod(exchange.request, http::verb::post);
  if (body.size() <= kMaxInline) co_return ReadBody(body, read);
  const std::shared_ptr<Cancellation> cancellation = exchange.watch();
  co_return co_await On<T>(workers_, exchange, kReading, cancellation.get(),
                           [&body, read] { return ReadBody(body, read); });
}

TextModels::Name OpenAi::Find(Exchange& exchange, const std::string& name) {
  const TextModels& texts = TextsOf(exchange);
  const Tenant& tenant = *exchange.admission.tenant;
  exchange.about.model = Bounded(name, kMaxLogged);
  if (name.size() > kMaxName) ThrowWrong("model", "model has more than {} bytes", kMaxName);
  auto found = Try([&] { return name.empty() ? texts.FindOnly(tenant) : texts.Find(tenant, name); });
  if (!found) ThrowNoModel(found.error());
  exchange.about.model = Bounded(found->model, kMaxLogged);
  return std::move(*found);
}

asio::awaitable<OpenAi::Opened> OpenAi::Open(Exchange& exchange, const std::string& name) {
  TextModels& texts = TextsOf(exchange);
  Tenant& tenant = *exchange.admission.tenant;
  TextModels::Name found = Find(exchange, name);
  Workers* workers = texts.WorkersOf(found);
  if (workers == nullptr) {
    std::function<Outcome<Workers*>()> open = [&] { return Try([&] { return texts.Open(tenant, found); }); };
    const std::shared_ptr<Cancellation> cancellation = exchange.watch();
    const auto opened =
        co_await On<Outcome<Workers*>>(loads_, exchange, PlaceOf(found.model), cancellation.get(), std::move(open));
    if (!opened) ThrowNoModel(opened.error());
    workers = *opened;
  }
  co_return Opened{std::move(found), *workers};
}

namespace {

void Add(size_t bytes, Charge& charge) {
  if (!charge.Add(bytes)) throw NoMemory();
}

void GenerateOne(TextWork& work, size_t i, TextForm& form, Ending& all) {
  const auto completion = work.Begin(i);
  while (work.Next(*completion)) Add(form.KeepToken(*completion), work.charge);
  const Ending ending = work.End(*completion);
  Add(form.KeepChoice(*completion, ending), work.charge);
  all.Add(ending, work.prompts.IsAgain(i));
}

}  // namespace

asio::awaitable<Response> OpenAi::AnswerWhole(TextWork work, std::unique_ptr<TextForm> form) {
  std::function<std::string()> run = [&] {
    Ending all;
    for (size_t i = 0; i < work.prompts.size(); ++i) GenerateOne(work, i, *form, all);
    return form->Whole(all);
  };
  Response response;
  response.text = co_await work.workers.Do(std::move(run), work.tenant.share(), work.cancellation.get());
  ChargeAnswer(std::move(work.charge), response.text.size(), response);
  co_return response;
}

asio::awaitable<Response> OpenAi::AnswerText(Exchange& exchange, TextRequest (*read)(simdjson::dom::element),
                                             NewForm* new_form) {
  TextRequest request = co_await Read(exchange, read);
  Opened opened = co_await Open(exchange, request.model);
  if (request.model.empty()) request.model = opened.name.model;
  UseAdapter(opened.name, request.prompts.options);
  std::unique_ptr<TextForm> form = new_form(request);
  co_return co_await AnswerBy(std::move(form), std::move(request), std::move(opened), exchange);
}

asio::awaitable<Response> OpenAi::Generate(Exchange& exchange, const std::string& model, bool is_stream) {
  ApiError wrong;
  try {
    TextRequest request = co_await Read(exchange, ReadGenerate);
    request.is_stream = is_stream;
    Opened opened = co_await Open(exchange, model);
    UseAdapter(opened.name, request.prompts.options);
    auto form = NewGenerateForm(opened.name.model, opened.name.version, request.id);
    co_return co_await AnswerBy(std::move(form), std::move(request), std::move(opened), exchange);
  } catch (ApiError& error) {
    wrong = std::move(error);
  } catch (const Failure& failure) {
    wrong = ToApiError(failure);
  }
  co_return ErrorResponse(wrong.status, wrong.message);
}

asio::awaitable<Response> OpenAi::AnswerBy(std::unique_ptr<TextForm> form, TextRequest request, Opened opened,
                                           Exchange& exchange) {
  Tenant& tenant = *exchange.admission.tenant;
  Charge charge = NewCharge(tenant, request.prompts.bytes());
  TextWork work{.models = exchange.admission.generation->models(),
                .tenant = tenant,
                .workers = opened.workers,
                .metrics = metrics_,
                .model = std::move(opened.name.model),
                .version = std::move(opened.name.version),
                .prompts = std::move(request.prompts),
                .charge = std::move(charge),
                .cancellation = exchange.watch()};
  exchange.request.body() = RequestBytes();
  if (!request.is_stream) co_return co_await AnswerWhole(std::move(work), std::move(form));
  Response response{.content_type = "text/event-stream"};
  AddStreamHeaders(response);
  response.source = co_await BeginTextStream(std::move(work), std::move(form));
  co_return response;
}

asio::awaitable<Response> OpenAi::AnswerPrompt(Exchange& exchange, const PromptQuestion& question) {
  TextRequest request = co_await Read(exchange, question.read);
  const Opened opened = co_await Open(exchange, request.model);
  Tenant& tenant = *exchange.admission.tenant;
  Charge charge = NewCharge(tenant, request.prompts.bytes());
  if (question.IsOfNothing(request)) co_return Response{.text = question.nothing};
  Prompt prompt = request.prompts.Take(0);
  prompt.goes_on = false;
  exchange.request.body() = RequestBytes();
  const std::shared_ptr<Cancellation> cancellation = exchange.watch();
  std::function<Response()> run = [&] {
    const auto completion = Try([&] {
      return exchange.admission.generation->models().Complete(tenant, opened.name.model, opened.name.version, prompt,
                                                              cancellation.get());
    });
    if (!completion) throw question.ToApiError(completion.error());
    while ((*completion)->Next()) {
    }
    const std::string output = (*completion)->Output("completion");
    Response response;
    ChargeAnswer(std::move(charge), 2 * output.size(), response);
    response.text = question.format(output);
    return response;
  };
  co_return co_await On(workers_, exchange, PlaceOf(opened.name.model), cancellation.get(), std::move(run));
}

template <typename What>
asio::awaitable<Response> OpenAi::AnswerVectors(Exchange& exchange, What (*read)(simdjson::dom::element)) {
  What request = co_await Read(exchange, read);
  Opened opened = co_await Open(exchange, request.model);
  if (request.model.empty()) request.model = opened.name.model;
  UseAdapter(opened.name, request.prompt.options);
  Tenant& tenant = *exchange.admission.tenant;
  const Charge of_request = NewCharge(tenant, request.bytes());
  exchange.request.body() = RequestBytes();
  const std::shared_ptr<Cancellation> cancellation = exchange.watch();
  const VectorsWork work{exchange.admission.generation->models(), tenant, opened.name.model, opened.name.version,
                         cancellation.get()};
  std::function<Response()> run = [&] {
    const Vectors made = MakeVectors(work, request.prompt, request.rows());
    Charge charge = NewCharge(tenant, kMaxOfNumber * made.numbers.size());
    metrics_.AddTokens(work.model, work.version, made.tokens, 0);
    Response response = ToResponse(ToJson(made, request));
    ChargeAnswer(std::move(charge), response.text.size(), response);
    return response;
  };
  co_return co_await On(opened.workers, exchange, kNoPlace, cancellation.get(), std::move(run));
}

namespace {

// A model server's answer for the client.
Response PassedResponse(std::unique_ptr<UpstreamCall> call, const std::function<void()>& on_first) {
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
    call->OnFirst(on_first);
  }
  if (status != 204) response.source = std::move(call);
  return response;
}

}  // namespace

asio::awaitable<std::optional<Response>> OpenAi::AnswerByUpstream(Exchange& exchange, const std::string& path) {
  const auto begun = std::chrono::steady_clock::now();
  const PassedRequest request = co_await Read(exchange, ReadPassed);
  const TextModels::Name name = Find(exchange, request.model);
  const auto upstream = Try([&] { return TextsOf(exchange).UpstreamOf(name); });
  if (!upstream) ThrowNoModel(upstream.error());
  if (*upstream == nullptr) co_return std::nullopt;
  // The server keeps it for the operator's key, which all tenants share.
  if (!request.stored.empty() && exchange.admission.generation->tenants().need_keys()) {
    ThrowWrong(request.stored, request.stored + ": tenants cannot use what the model's server has stored");
  }
  Tenant& tenant = *exchange.admission.tenant;
  Upstream::Place place = (*upstream)->Enter(tenant.share());
  Charge charge = NewCharge(tenant, UpstreamCall::kBytes);
  auto call = std::make_unique<UpstreamCall>(
      UpstreamCall::Options{.context = context_,
                            .patience = std::chrono::milliseconds(tenant.settings().limits().compute_timeout_ms),
                            .cancellation = exchange.watch(),
                            .charge = std::move(charge)},
      std::move(place), *upstream);
  std::string model = Dump((*upstream)->address().model);
  const auto body = WithModel(exchange.request.body().view(), request, model);
  const UpstreamCall::Request passed{.path = path, .body = body, .trace = exchange.about.trace.ToHeader()};
  try {
    co_await call->Send(passed);
  } catch (const Failure& failure) {
    ApiError error = ToApiError(failure);
    if (failure.code == WASINN_ERROR_LOST) error.status = http::status::bad_gateway;
    throw error;
  }
  exchange.request.body() = RequestBytes();
  co_return PassedResponse(std::move(call), [this, begun, name] {
    metrics_.AddFirst(name.model, name.version, std::chrono::steady_clock::now() - begun);
  });
}

Response OpenAi::AnswerModels(const Exchange& exchange, const Words& words) const {
  CheckMethod(exchange.request, http::verb::get);
  const Tenant& tenant = *exchange.admission.tenant;
  const TextModels& texts = TextsOf(exchange);
  if (words.size() == 1) {
    json list = json::array();
    for (const auto& [name, model] : texts.List(tenant)) list.push_back(ToModel(texts, name, model));
    return ToResponse(json{{"object", "list"}, {"data", std::move(list)}});
  }
  std::string name = words[1];  // may contain slashes
  for (size_t i = 2; i < words.size(); ++i) name += "/" + words[i];
  const auto found = Try([&] { return texts.Find(tenant, name); });
  if (!found) ThrowNoModel(found.error());
  return ToResponse(ToModel(texts, name, *found));
}

asio::awaitable<Response> OpenAi::AnswerKnown(Exchange& exchange, const Words& words) {
  if (!words.empty() && words[0] == "models") co_return AnswerModels(exchange, words);
  if (const std::string path = PassedPath(words); !path.empty() && TextsOf(exchange).has_upstreams()) {
    if (auto passed = co_await AnswerByUpstream(exchange, path)) co_return std::move(*passed);
  }
  if (words == Words{"chat", "completions"}) co_return co_await AnswerText(exchange, ReadChat, NewChoicesForm);
  if (words == Words{"completions"}) co_return co_await AnswerText(exchange, ReadCompletion, NewChoicesForm);
  if (words == Words{"completion"}) co_return co_await AnswerText(exchange, ReadLlamaCompletion, NewLlamaForm);
  if (words == Words{"responses"}) co_return co_await AnswerText(exchange, ReadResponse, NewResponseForm);
  if (const PromptQuestion* const question = FindPromptQuestion(words)) {
    co_return co_await AnswerPrompt(exchange, *question);
  }
  if (words == Words{"embeddings"}) co_return co_await AnswerVectors(exchange, ReadEmbeddings);
  if (words == Words{"rerank"}) co_return co_await AnswerVectors(exchange, ReadRerank);
  throw ApiError{.status = http::status::not_found, .message = "there is nothing of this name"};
}

asio::awaitable<Response> OpenAi::Answer(Exchange& exchange) {
  const auto target = exchange.request.target();
  const Words words = WordsBehind({target.data(), target.size()});
  ApiError wrong;
  try {
    co_return co_await AnswerKnown(exchange, words);
  } catch (ApiError& error) {
    wrong = std::move(error);
  } catch (const Failure& failure) {
    wrong = ToApiError(failure);
  }
  Response response = openai::ToResponse(wrong);
  if (wrong.status == http::status::method_not_allowed) {
    response.headers = {{"Allow", !words.empty() && words[0] == "models" ? "GET" : "POST"}};
  }
  co_return response;
}

}  // namespace wasinn::serve::openai
