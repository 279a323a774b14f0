// Triton's generate extension: /v2/models/NAME/generate and /generate_stream of a language model.
#pragma once

#include <string>

#include "serve/openai/text_form.h"
#include "serve/openai/text_request.h"

namespace wasinn::serve::openai {

struct GenerateRequest {
  TextRequest text;
  std::string id;  // "": no id
};
// `text_input`, and /v1's sampling fields, in `parameters` or next to it. Throws ApiError.
GenerateRequest ReadGenerate(simdjson::dom::element body);

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
  size_t KeepChoice(Completion& completion, const Ending& ending) override;
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

}  // namespace wasinn::serve::openai
