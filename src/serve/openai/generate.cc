// Triton's generate extension: /v2/models/NAME/generate and /generate_stream of a language model.
#include <string>
#include <utility>

#include "serve/openai/text_form.h"
#include "serve/openai/text_request.h"

namespace wasinn::serve::openai {
namespace {

class GenerateForm final : public TextForm {
 public:
  GenerateForm(const std::string& model, const std::string& version, const std::string& id)
      : head_{{"model_name", model}, {"model_version", version}} {
    if (!id.empty()) head_["id"] = id;
  }

  std::string Begin(Completion& /*completion*/) override { return ""; }
  std::string Add(Completion& /*completion*/, const std::string& piece, const Ending* /*so_far*/) override {
    return piece.empty() ? "" : Event(With(piece));
  }
  std::string ReportProgress(const nlohmann::json& /*progress*/) override { return ""; }
  std::string EndChoice(Completion& /*completion*/, const Ending& /*ending*/) override { return ""; }
  std::string End(const Ending& /*all*/) override { return ""; }
  std::string Fail(const ApiError& error) override { return Event({{"error", error.message}}); }
  size_t KeepChoice(Completion& completion, const Ending& /*ending*/) override {
    text_ = completion.Output("completion");
    return 7 * text_.size();  // and the answer, in which a byte may take six
  }
  std::string Whole(const Ending& /*all*/) override { return Dump(With(text_)); }

 private:
  nlohmann::json With(const std::string& text) const {
    nlohmann::json response = head_;
    response["text_output"] = text;
    return response;
  }

  nlohmann::json head_;
  std::string text_;
};

}  // namespace

std::unique_ptr<TextForm> NewGenerateForm(const std::string& model, const std::string& version, const std::string& id) {
  return std::make_unique<GenerateForm>(model, version, id);
}

TextRequest ReadGenerate(simdjson::dom::element body) {
  Fields fields(body);
  TextRequest request;
  request.id = fields.Text("id").value_or("");
  if (request.id.size() > kMaxName) ThrowWrong("id", "id has more than 4096 bytes");
  auto text = fields.Text("text_input");
  if (!text) text = fields.Text("prompt");  // the input's name
  if (!text) ThrowWrong("text_input", "text_input is missing");
  request.prompts.texts = {std::move(*text)};
  Options options;
  fields.Join("parameters");
  ReadSampling(fields, options);
  ReadMostTokens(fields, kNamesOfMostTokens, options);
  ReadResponseFormat(fields, options);
  fields.Refuse({"bad_words", "stop_words", "sampling_parameters"});
  fields.Ignore({"stream", "exclude_input_in_output"});  // the path decides, and answers never have the prompt
  fields.IgnoreOthers("/v2");
  TakeOptions(options, request);
  return request;
}

}  // namespace wasinn::serve::openai
