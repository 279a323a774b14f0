#include "serve/openai/common_request.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace wasinn::serve::openai {

TextRequest ReadCommon(Fields& fields, std::initializer_list<std::string_view> names_of_n) {
  TextRequest request;
  request.model = fields.Text("model").value_or("");
  request.is_stream = fields.Flag("stream").value_or(false);
  if (auto stream = fields.Object("stream_options")) {
    request.wants_usage = stream->Flag("include_usage").value_or(false);
    stream->Ignore({"include_obfuscation", "continuous_usage_stats"});
    stream->CheckAllRead();
  }
  for (const std::string_view name : names_of_n) {
    if (const auto n = fields.Integer(name, 1, kMostChoices)) request.prompts.n = static_cast<size_t>(*n);
  }
  ReadStreamFields(fields, request);
  request.is_verbose = request.wants_report = fields.Flag("verbose").value_or(false);
  IgnoreMoot(fields);
  return request;
}

void AddTop(std::optional<unsigned> n_top, Options& options) {
  if (n_top) options.Add("n-probs", std::to_string(*n_top));
}

void IgnoreMoot(Fields& fields) {
  fields.Ignore({"user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key",
                 "prompt_cache_retention", "prediction", "id_slot"});
}

void ReadThinking(Fields& fields, Options& options) {
  auto effort = fields.Text("reasoning_effort");
  auto thinks = fields.Flag("enable_thinking");
  if (auto reasoning = fields.Object("reasoning")) {
    if (const auto given = reasoning->Text("effort")) effort = given;
    if (const auto given = reasoning->Flag("enabled")) thinks = given;
    reasoning->Ignore({"summary", "generate_summary"});
    reasoning->CheckAllRead();
  }
  if (const auto think = fields.Find("think")) {
    if (think->is_bool()) {
      thinks = static_cast<bool>(*think);
    } else if (think->is_string()) {
      effort = static_cast<std::string_view>(*think);
    } else {
      ThrowWrong("think", "think is neither true, false nor a text");
    }
  }
  const bool is_effort = effort && *effort != "none";
  if (effort && !is_effort) thinks = false;
  const auto given = fields.Find("chat_template_kwargs");
  std::string kwargs = given ? ToText(*given) : "{}";
  const bool is_said = given && given->is_object() && (*given)["reasoning_effort"].error() == simdjson::SUCCESS;
  if (is_effort && !is_said && kwargs.starts_with('{')) {  // "low" and others: templates read it
    kwargs.insert(1, fmt::format(R"("reasoning_effort":{}{})", Dump(*effort), kwargs == "{}" ? "" : ","));
  }
  if (kwargs != "{}") options.Add("chat-template-kwargs", kwargs);
  if (thinks) options.Add("enable-thinking", *thinks ? "true" : "false");
  if (const auto format = fields.Text("reasoning_format")) options.AddText("reasoning-format", *format);
}

void ReadStreamFields(Fields& fields, TextRequest& request) {
  const bool progress = fields.Flag("return_progress").value_or(false);
  const bool timings = fields.Flag("timings_per_token").value_or(false);
  request.prompts.wants_progress = request.is_stream && progress;
  request.prompts.wants_timings = request.is_stream && timings;
}

void TakeOptions(Options& options, TextRequest& request) {
  if (request.wants_report) options.Add("report", "true");
  Prompts& prompts = request.prompts;
  if (prompts.wants_progress) options.Add("prompt-steps", "true");
  prompts.seed = options.seed;
  prompts.options = options.Take();
}

}  // namespace wasinn::serve::openai
