#include "serve/openai/generate.h"

#include <utility>

#include "serve/openai/common_request.h"
#include "serve/openai/sampling.h"

namespace wasinn::serve::openai {
namespace {

void ReadParameters(Fields& fields, Options& options) {
  ReadSampling(fields, options);
  ReadMostTokens(fields, kNamesOfMostTokens, options);
  ReadResponseFormat(fields, options);
  // What is asked by the path, and what other servers' models take: these have no prompt in their answers.
  fields.Ignore({"stream", "exclude_input_in_output"});
  fields.Refuse({"bad_words", "stop_words", "sampling_parameters"});
}

}  // namespace

GenerateRequest ReadGenerate(simdjson::dom::element body) {
  Fields fields(body);
  GenerateRequest request;
  request.id = fields.Text("id").value_or("");
  if (request.id.size() > kMostName) ThrowWrong("id", "id has more than 4096 bytes");
  auto text = fields.Text("text_input");
  if (!text) text = fields.Text("prompt");  // the input's name
  if (!text) ThrowWrong("text_input", "text_input is missing");
  request.text.prompts.texts = {std::move(*text)};
  Options options;
  ReadParameters(fields, options);
  if (auto parameters = fields.Object("parameters")) {
    ReadParameters(*parameters, options);
    parameters->IgnoreOthers("/v2");
  }
  fields.IgnoreOthers("/v2");
  TakeOptions(options, request.text);
  return request;
}

Outcome<size_t> GenerateForm::KeepChoice(Completion& completion, const Ending& /*ending*/) {
  auto text = completion.Output("completion");
  if (!text) return std::unexpected(std::move(text.error()));
  text_ = std::move(*text);
  return 7 * text_.size();  // and of the answer, where a byte may have six
}

}  // namespace wasinn::serve::openai
