#include "serve/openai/form_of_text.h"

#include <nlohmann/json.hpp>
#include <string>

namespace wasinn::serve::openai {
namespace {

using nlohmann::json;
using simdjson::dom::element;

constexpr char kAnyObject[] = R"({"type":"object"})";

// The only format of a request, as a key of the model and its value.
class ChosenForm {
 public:
  explicit ChosenForm(Options& options) : options_(options) {}

  // `name`: the field that chooses it.
  void Choose(const std::string& name, const char* key, const std::string& value) {
    if (!chosen_.empty()) ThrowWrong(name, "both {} and {} are set", chosen_, name);
    chosen_ = name;
    options_.Add(key, value);
  }
  void ChooseSchema(const std::string& name, const std::string& schema) {
    Choose(name, "json-schema", schema == "{}" ? kAnyObject : schema);
  }
  void ChooseGrammar(Fields& fields, std::string_view name) {
    const auto grammar = fields.Text(name);
    if (grammar && !grammar->empty()) Choose(fields.NameOf(name), "grammar", Dump(*grammar));
  }

 private:
  Options& options_;
  std::string chosen_;  // the field's name; "": none chosen
};

// A schema, or a text that contains one.
std::string SchemaIn(element given, const std::string& name) {
  if (!given.is_string()) return ToText(given);
  const auto text = static_cast<std::string_view>(given);
  const json parsed =
      text.size() > Options::kMostBytes ? json(json::value_t::discarded) : json::parse(text, nullptr, false);
  if (parsed.is_discarded()) ThrowWrong(name, name + " is not a JSON schema");
  return Dump(parsed);
}

// A grammar that allows only these texts.
std::string GrammarOf(element texts, const std::string& name) {
  if (!texts.is_array()) ThrowWrong(name, name + " is not a list of texts");
  std::string grammar;
  bool is_good = true;
  for (const element one : texts.get_array()) {
    is_good = is_good && one.is_string();
    grammar += (grammar.empty() ? "root ::= " : " | ") + ToText(one);
  }
  if (!is_good) ThrowWrong(name, name + " is not a list of texts");
  return Dump(grammar);
}

// vLLM's old and new names. Regular expressions are not supported.
struct GuidedNames {
  std::string_view schema, choice, grammar, regex;
};

void ReadGuided(Fields& fields, const GuidedNames& names, ChosenForm& form) {
  if (const auto schema = fields.Find(names.schema)) {
    const std::string name = fields.NameOf(names.schema);
    form.ChooseSchema(name, SchemaIn(*schema, name));
  }
  if (const auto choice = fields.Find(names.choice); choice && !IsNothing(*choice)) {
    const std::string name = fields.NameOf(names.choice);
    form.Choose(name, "grammar", GrammarOf(*choice, name));
  }
  form.ChooseGrammar(fields, names.grammar);
  fields.Refuse({names.regex});
}

// OpenAI's {"type": …}, with a schema in `json_schema`, or next to the type.
void ReadFormat(Fields& format, ChosenForm& form) {
  const std::string type = format.Text("type").value_or(""), name = format.NameOf("type");
  auto inner = format.Object("json_schema");
  Fields& place = inner ? *inner : format;
  const auto schema = place.Json("schema");
  if (type == "json_object") {
    form.ChooseSchema(name, schema.value_or(kAnyObject));
  } else if (type == "json_schema") {
    const std::string missing = place.NameOf("schema");
    if (!schema) ThrowWrong(missing, missing + " is missing");
    form.ChooseSchema(name, *schema);
  } else if (type != "text") {
    ThrowWrong(name, name + " is not text, json_object or json_schema");
  }
  for (Fields* one : {&place, &format}) {
    one->Ignore({"name", "description", "strict"});
    one->CheckAllRead();
  }
}

// Ollama's format: a schema, or "json".
void ReadOllamaFormat(Fields& fields, ChosenForm& form) {
  const auto format = fields.Find("format");
  if (!format || IsNothing(*format)) return;
  if (format->is_object()) return form.ChooseSchema("format", ToText(*format));
  if (ToText(*format) != R"("json")") ThrowWrong("format", "format is neither a schema nor json");
  form.ChooseSchema("format", kAnyObject);
}

}  // namespace

void ReadResponseFormat(Fields& fields, Options& options) {
  ChosenForm form(options);
  if (auto format = fields.Object("response_format")) ReadFormat(*format, form);
  if (const auto schema = fields.Json("json_schema")) form.ChooseSchema("json_schema", *schema);  // llama.cpp's server
  ReadGuided(fields, {"guided_json", "guided_choice", "guided_grammar", "guided_regex"}, form);
  if (auto guided = fields.Object("structured_outputs")) {
    ReadGuided(*guided, {"json", "choice", "grammar", "regex"}, form);
    if (guided->Flag("json_object").value_or(false)) form.ChooseSchema("structured_outputs.json_object", kAnyObject);
    guided->Refuse({"structural_tag"});
    guided->CheckAllRead();
  }
  form.ChooseGrammar(fields, "grammar");
  form.ChooseGrammar(fields, "ebnf");  // SGLang's
  fields.Refuse({"regex"});
  ReadOllamaFormat(fields, form);
}

void ReadTextFormat(Fields& fields, Options& options) {
  ChosenForm form(options);
  auto text = fields.Object("text");
  if (!text) return;
  if (auto format = text->Object("format")) ReadFormat(*format, form);
  text->Ignore({"verbosity"});
  text->CheckAllRead();
}

}  // namespace wasinn::serve::openai
