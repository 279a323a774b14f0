#include "serve/openai/openai.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "serve/generation.h"
#include "serve/http/http_message.h"
#include "serve/metrics/access_log.h"
#include "serve/openai/fields.h"
#include "serve/openai/text_form.h"
#include "serve/openai/text_request.h"
#include "serve/openai/text_stream.h"
#include "serve/openai/upstream_call.h"
#include "serve/openai/vectors.h"

namespace wasinn::serve::openai {
namespace {

using nlohmann::json;

struct Path {
  std::string_view at_root, behind_v1;
};
// /completions is OpenAI's, and only under /v1.
constexpr std::array<Path, 12> kAtRoot = {{{"/completion", "/completion"},
                                           {"/completions", "/completion"},
                                           {"/chat/completions", "/chat/completions"},
                                           {"/chat/completions/input_tokens", "/chat/completions/input_tokens"},
                                           {"/responses", "/responses"},
                                           {"/responses/input_tokens", "/responses/input_tokens"},
                                           {"/rerank", "/rerank"},
                                           {"/reranking", "/rerank"},
                                           {"/models", "/models"},
                                           {"/tokenize", "/tokenize"},
                                           {"/detokenize", "/detokenize"},
                                           {"/apply-template", "/apply-template"}}};

constexpr std::string_view kPrefix = "/v1";

constexpr char kOwner[] = "wasinn";
const Place kReading = PlaceOf("");  // bodies, before their model is known
// The bytes of a number in an answer: as an object, and as text.
constexpr uint64_t kMaxOfNumber = 48;

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

[[noreturn]] void ThrowNoModel(const Failure& failure) {
  ApiError error = ToApiError(failure);
  error.param = "model";
  if (error.status == http::status::not_found) error.code = "model_not_found";
  throw error;
}

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

// Answers one request. Its functions throw ApiError and Failure.
class OpenAiHandler {
 public:
  using Words = std::vector<std::string>;  // of a path, after /v1

  OpenAiHandler(const OpenAi::Parts& parts, Exchange& exchange)
      : parts_(parts),
        exchange_(exchange),
        tenant_(*exchange.admission.tenant),
        models_(exchange.admission.generation->models()),
        texts_(exchange.admission.generation->texts()) {}

  asio::awaitable<Response> Answer(const Words& words) {
    if (!words.empty() && words[0] == "models") co_return AnswerModels(words);
    if (const std::string path = PassedPath(words); !path.empty() && texts_.has_upstreams()) {
      if (auto passed = co_await AnswerByUpstream(path)) co_return std::move(*passed);
    }
    if (words == Words{"chat", "completions"}) co_return co_await AnswerText(ReadChat, NewChoicesForm);
    if (words == Words{"completions"}) co_return co_await AnswerText(ReadCompletion, NewChoicesForm);
    if (words == Words{"completion"}) co_return co_await AnswerText(ReadLlamaCompletion, NewLlamaForm);
    if (words == Words{"responses"}) co_return co_await AnswerText(ReadResponse, NewResponseForm);
    if (const PromptQuestion* const question = FindPromptQuestion(words)) co_return co_await AnswerPrompt(*question);
    if (words == Words{"embeddings"}) co_return co_await AnswerVectors(ReadEmbeddings);
    if (words == Words{"rerank"}) co_return co_await AnswerVectors(ReadRerank);
    throw ApiError{.status = http::status::not_found, .message = "there is nothing of this name"};
  }

  asio::awaitable<Response> Generate(const std::string& model, bool is_stream) {
    TextRequest request = co_await Read(ReadGenerate);
    request.is_stream = is_stream;
    Opened opened = co_await Open(model);
    UseAdapter(opened.name, request.prompts.options);
    auto form = NewGenerateForm(opened.name.model, opened.name.version, request.id);
    co_return co_await AnswerBy(std::move(form), std::move(request), std::move(opened));
  }

 private:
  struct Opened {
    TextModels::Name name;
    Workers& workers;
  };
  using NewForm = std::unique_ptr<TextForm>(const TextRequest& request);

  // Runs `work` on a worker, and rethrows its exceptions.
  template <typename T>
  asio::awaitable<T> On(Workers& workers, Place place, Cancellation* cancellation, std::function<T()> work) {
    co_return co_await workers.Do(std::move(work), tenant_.share(), cancellation, place);
  }
  // Reads the body, on a worker if it is large.
  template <typename T>
  asio::awaitable<T> Read(T (*read)(simdjson::dom::element)) {
    RequestBytes& body = exchange_.request.body();
    CheckMethod(exchange_.request, http::verb::post);
    if (body.size() <= kMaxInline) co_return ReadBody(body, read);
    const std::shared_ptr<Cancellation> cancellation = exchange_.watch();
    co_return co_await On<T>(parts_.workers, kReading, cancellation.get(),
                             [&body, read] { return ReadBody(body, read); });
  }
  // `name`: from the client, or "".
  TextModels::Name Find(const std::string& name) {
    exchange_.about.model = Bounded(name, kMaxLogged);
    if (name.size() > kMaxName) ThrowWrong("model", "model has more than {} bytes", kMaxName);
    auto found = Try([&] { return name.empty() ? texts_.FindOnly(tenant_) : texts_.Find(tenant_, name); });
    if (!found) ThrowNoModel(found.error());
    exchange_.about.model = Bounded(found->model, kMaxLogged);
    return std::move(*found);
  }
  // The same, loaded.
  asio::awaitable<Opened> Open(const std::string& name) {
    TextModels::Name found = Find(name);
    Workers* workers = texts_.WorkersOf(found);
    if (workers == nullptr) {
      std::function<Outcome<Workers*>()> open = [&] { return Try([&] { return texts_.Open(tenant_, found); }); };
      const std::shared_ptr<Cancellation> cancellation = exchange_.watch();
      const auto opened = co_await On(parts_.loads, PlaceOf(found.model), cancellation.get(), std::move(open));
      if (!opened) ThrowNoModel(opened.error());
      workers = *opened;
    }
    co_return Opened{std::move(found), *workers};
  }

  Response AnswerModels(const Words& words) const {
    CheckMethod(exchange_.request, http::verb::get);
    if (words.size() == 1) {
      json list = json::array();
      for (const auto& [name, model] : texts_.List(tenant_)) list.push_back(ToModel(texts_, name, model));
      return JsonResponse(json{{"object", "list"}, {"data", std::move(list)}});
    }
    std::string name = words[1];  // may contain slashes
    for (size_t i = 2; i < words.size(); ++i) name += "/" + words[i];
    const auto found = Try([&] { return texts_.Find(tenant_, name); });
    if (!found) ThrowNoModel(found.error());
    return JsonResponse(ToModel(texts_, name, *found));
  }

  // The answer of a model server; empty: the model is computed here.
  asio::awaitable<std::optional<Response>> AnswerByUpstream(const std::string& path) {
    const auto begun = std::chrono::steady_clock::now();
    const PassedRequest request = co_await Read(ReadPassed);
    const TextModels::Name name = Find(request.model);
    const auto upstream = Try([&] { return texts_.UpstreamOf(name); });
    if (!upstream) ThrowNoModel(upstream.error());
    if (*upstream == nullptr) co_return std::nullopt;
    // The server keeps it for the operator's key, which all tenants share.
    if (!request.stored.empty() && exchange_.admission.generation->tenants().need_keys()) {
      ThrowWrong(request.stored, request.stored + ": tenants cannot use what the model's server has stored");
    }
    Upstream::Place place = (*upstream)->Enter(tenant_.share());
    PassedCall call{.context = parts_.context,
                    .patience = std::chrono::milliseconds(tenant_.settings().limits().compute_timeout_ms),
                    .cancellation = exchange_.watch(),
                    .charge = NewCharge(tenant_, PassedCall::kBytes),
                    .path = path,
                    .trace = exchange_.about.trace.ToHeader(),
                    .on_first = [&metrics = parts_.metrics, begun, name] {
                      metrics.AddFirst(name.model, name.version, std::chrono::steady_clock::now() - begun);
                    }};
    Response response =
        co_await PassOn(std::move(call), request, exchange_.request.body().view(), *upstream, std::move(place));
    exchange_.request.body() = RequestBytes();
    co_return response;
  }

  asio::awaitable<Response> AnswerText(TextRequest (*read)(simdjson::dom::element), NewForm* new_form) {
    TextRequest request = co_await Read(read);
    Opened opened = co_await Open(request.model);
    if (request.model.empty()) request.model = opened.name.model;
    UseAdapter(opened.name, request.prompts.options);
    std::unique_ptr<TextForm> form = new_form(request);
    co_return co_await AnswerBy(std::move(form), std::move(request), std::move(opened));
  }
  asio::awaitable<Response> AnswerBy(std::unique_ptr<TextForm> form, TextRequest request, Opened opened) {
    Charge charge = NewCharge(tenant_, request.prompts.bytes());
    TextWork work{.models = models_,
                  .tenant = tenant_,
                  .workers = opened.workers,
                  .metrics = parts_.metrics,
                  .model = std::move(opened.name.model),
                  .version = std::move(opened.name.version),
                  .prompts = std::move(request.prompts),
                  .charge = std::move(charge),
                  .cancellation = exchange_.watch()};
    exchange_.request.body() = RequestBytes();
    if (!request.is_stream) co_return co_await AnswerWhole(std::move(work), std::move(form));
    Response response{.content_type = "text/event-stream"};
    AddStreamHeaders(response);
    response.source = co_await BeginTextStream(std::move(work), std::move(form));
    co_return response;
  }
  static asio::awaitable<Response> AnswerWhole(TextWork work, std::unique_ptr<TextForm> form) {
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

  asio::awaitable<Response> AnswerPrompt(const PromptQuestion& question) {
    TextRequest request = co_await Read(question.read);
    const Opened opened = co_await Open(request.model);
    Charge charge = NewCharge(tenant_, request.prompts.bytes());
    if (question.IsOfNothing(request)) co_return Response{.text = question.nothing};
    Prompt prompt = request.prompts.Take(0);
    prompt.goes_on = false;
    exchange_.request.body() = RequestBytes();
    const std::shared_ptr<Cancellation> cancellation = exchange_.watch();
    std::function<Response()> run = [&] {
      const auto completion = Try([&] {
        return models_.Complete(tenant_, opened.name.model, opened.name.version, prompt, cancellation.get());
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
    co_return co_await On(parts_.workers, PlaceOf(opened.name.model), cancellation.get(), std::move(run));
  }

  // Answers with vectors of texts.
  template <typename What>
  asio::awaitable<Response> AnswerVectors(What (*read)(simdjson::dom::element)) {
    What request = co_await Read(read);
    Opened opened = co_await Open(request.model);
    if (request.model.empty()) request.model = opened.name.model;
    UseAdapter(opened.name, request.prompt.options);
    const Charge of_request = NewCharge(tenant_, request.bytes());
    exchange_.request.body() = RequestBytes();
    const std::shared_ptr<Cancellation> cancellation = exchange_.watch();
    const VectorsWork work{models_, tenant_, opened.name.model, opened.name.version, cancellation.get()};
    std::function<Response()> run = [&] {
      const Vectors made = MakeVectors(work, request.prompt, request.rows());
      Charge charge = NewCharge(tenant_, kMaxOfNumber * made.numbers.size());
      parts_.metrics.AddTokens(work.model, work.version, made.tokens, 0);
      Response response = JsonResponse(ToJson(made, request));
      ChargeAnswer(std::move(charge), response.text.size(), response);
      return response;
    };
    co_return co_await On(opened.workers, kNoPlace, cancellation.get(), std::move(run));
  }

  const OpenAi::Parts& parts_;
  Exchange& exchange_;
  Tenant& tenant_;
  Catalog& models_;
  TextModels& texts_;
};

// The answer, or what is wrong.
asio::awaitable<std::expected<Response, ApiError>> TryAnswer(asio::awaitable<Response> answer) {
  try {
    co_return co_await std::move(answer);
  } catch (ApiError& error) {
    co_return std::unexpected(std::move(error));
  } catch (const Failure& failure) {
    co_return std::unexpected(ToApiError(failure));
  }
}

}  // namespace

bool IsOurs(std::string_view target) { return PathAlone(target) == kPrefix || target.starts_with("/v1/"); }

std::optional<std::string> UnderV1(std::string_view target) {
  const std::string_view path = PathAlone(target);
  const auto found = std::ranges::find(kAtRoot, path, &Path::at_root);
  if (found == kAtRoot.end()) return std::nullopt;
  return std::string(kPrefix).append(found->behind_v1).append(target.substr(path.size()));
}

std::vector<std::string> WordsBehind(std::string_view target) {
  if (!IsOurs(target)) return {};
  std::vector<std::string> words = PathWords(target);
  words.erase(words.begin());
  return words;
}

bool OpenAi::Has(const Header& request) { return IsOurs({request.target().data(), request.target().size()}); }

asio::awaitable<Response> OpenAi::Generate(Exchange& exchange, const std::string& model, bool is_stream) {
  OpenAiHandler handler(parts_, exchange);
  auto answer = co_await TryAnswer(handler.Generate(model, is_stream));
  if (!answer) co_return ErrorResponse(answer.error().status, answer.error().message);
  co_return std::move(*answer);
}

asio::awaitable<Response> OpenAi::Answer(Exchange& exchange) {
  const auto target = exchange.request.target();
  const std::vector<std::string> words = WordsBehind({target.data(), target.size()});
  OpenAiHandler handler(parts_, exchange);
  auto answer = co_await TryAnswer(handler.Answer(words));
  if (answer) co_return std::move(*answer);
  Response response = openai::ToResponse(answer.error());
  if (answer.error().status == http::status::method_not_allowed) {
    response.headers = {{"Allow", !words.empty() && words[0] == "models" ? "GET" : "POST"}};
  }
  co_return response;
}

}  // namespace wasinn::serve::openai
