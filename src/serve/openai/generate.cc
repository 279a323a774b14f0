#include "serve/openai/generate.h"

#include <utility>

#include "serve/openai/form_of_text.h"
#include "serve/openai/sampling.h"
#include "serve/openai/text_request.h"

namespace wasinn::serve::openai {

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
  fields.Join("parameters");
  ReadSampling(fields, options);
  ReadMostTokens(fields, kNamesOfMostTokens, options);
  ReadResponseFormat(fields, options);
  fields.Refuse({"bad_words", "stop_words", "sampling_parameters"});
  fields.Ignore({"stream", "exclude_input_in_output"});  // the path decides, and answers never have the prompt
  fields.IgnoreOthers("/v2");
  TakeOptions(options, request.text);
  return request;
}

size_t GenerateForm::KeepChoice(Completion& completion, const Ending& /*ending*/) {
  text_ = completion.Output("completion");
  return 7 * text_.size();  // and the answer, in which a byte may take six
}

}  // namespace wasinn::serve::openai
