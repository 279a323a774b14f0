// OpenAI's API for the server's language models: /v1.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <simdjson.h>

#include "serve/http/http_server.h"
#include "serve/metrics/request_metrics.h"
#include "serve/models/text_models.h"
#include "serve/openai/prompt_question.h"
#include "serve/openai/text_form.h"
#include "serve/openai/text_request.h"
#include "serve/openai/text_stream.h"
#include "serve/threads/workers.h"

namespace wasinn::serve::openai {

// Thread-safe. Its arguments outlive it.
class OpenAi {
 public:
  // `loads`: threads for loading models. `context`: for connections to model servers.
  OpenAi(asio::io_context& context, Workers& workers, Workers& loads, TextMetrics& metrics)
      : context_(context), workers_(workers), loads_(loads), metrics_(metrics) {}

  // Whether it answers the request, unless a guest has the path.
  static bool Has(const Header& request);
  asio::awaitable<Response> Answer(Exchange& exchange);
  // Triton's generate extension. `model`: "tiny", or "tiny:2".
  asio::awaitable<Response> Generate(Exchange& exchange, const std::string& model, bool is_stream);

 private:
  using Words = std::vector<std::string>;
  struct Opened {
    TextModels::Name name;
    Workers& workers;
  };
  using NewForm = std::unique_ptr<TextForm>(const TextRequest& request);

  // The functions below throw ApiError and Failure.
  asio::awaitable<Response> AnswerKnown(Exchange& exchange, const Words& words);
  Response AnswerModels(const Exchange& exchange, const Words& words) const;
  asio::awaitable<Response> AnswerText(Exchange& exchange, TextRequest (*read)(simdjson::dom::element),
                                       NewForm* new_form);
  asio::awaitable<Response> AnswerBy(std::unique_ptr<TextForm> form, TextRequest request, Opened opened,
                                     Exchange& exchange);
  asio::awaitable<Response> AnswerWhole(TextWork work, std::unique_ptr<TextForm> form);
  // The answer of a model server; empty: the model is computed here.
  asio::awaitable<std::optional<Response>> AnswerByUpstream(Exchange& exchange, const std::string& path);
  asio::awaitable<Response> AnswerPrompt(Exchange& exchange, const PromptQuestion& question);
  // Answers with vectors of texts.
  template <typename What>
  asio::awaitable<Response> AnswerVectors(Exchange& exchange, What (*read)(simdjson::dom::element));
  // Runs `work` on a worker, and rethrows its exceptions.
  template <typename T>
  static asio::awaitable<T> On(Workers& workers, Exchange& exchange, Place place, Cancellation* cancellation,
                               std::function<T()> work);
  // Reads the body, on a worker if it is large.
  template <typename T>
  asio::awaitable<T> Read(Exchange& exchange, T (*read)(simdjson::dom::element));
  // `name`: from the client, or "".
  static TextModels::Name Find(Exchange& exchange, const std::string& name);
  // The same, loaded.
  asio::awaitable<Opened> Open(Exchange& exchange, const std::string& name);

  asio::io_context& context_;
  Workers& workers_;
  Workers& loads_;
  TextMetrics& metrics_;
};

}  // namespace wasinn::serve::openai
