#include "serve/openai/common_request.h"

#include <string>
#include <utility>

namespace wasinn::serve::openai {

TextRequest ReadCommon(Fields& fields, std::initializer_list<std::string_view> names_of_n) {
  TextRequest request;
  request.model = fields.Text("model").value_or("");
  request.is_stream = fields.Flag("stream").value_or(false);
  if (auto stream = fields.Object("stream_options")) {
    if (!request.is_stream) ThrowWrong("stream_options", "stream_options is for a stream");
    request.tells_usage = stream->Flag("include_usage").value_or(false);
    stream->Ignore({"include_obfuscation", "continuous_usage_stats"});
    stream->CheckAllRead();
  }
  for (const std::string_view name : names_of_n) {
    if (const auto n = fields.Integer(name, 1, kMostChoices)) request.prompts.n = static_cast<size_t>(*n);
  }
  ReadTold(fields, request);
  request.is_verbose = request.tells_report = fields.Flag("verbose").value_or(false);
  fields.Ignore({"user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key",
                 "prompt_cache_retention", "prediction", "id_slot"});
  return request;
}

void AddTop(std::optional<unsigned> n_top, Options& options) {
  if (n_top) options.Add("n-probs", std::to_string(*n_top));
}

void ReadTold(Fields& fields, TextRequest& request) {
  const bool progress = fields.Flag("return_progress").value_or(false);
  const bool timings = fields.Flag("timings_per_token").value_or(false);
  request.prompts.tells_progress = request.is_stream && progress;
  request.prompts.tells_timings = request.is_stream && timings;
}

void TakeOptions(Options& options, TextRequest& request) {
  if (request.tells_report) options.Add("report", "true");
  Prompts& prompts = request.prompts;
  if (prompts.tells_progress) options.Add("prompt-steps", "true");
  prompts.seed = options.seed;
  prompts.options = options.Take();
}

}  // namespace wasinn::serve::openai
