// The C functions of wasinn_llama_common.h over llama.cpp's own code.
#include "wasinn_llama_common.h"

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "chat.h"
#include "json-schema-to-grammar.h"
#include "limits.h"
#include "stand_ins.h"

namespace {

using Json = common_json;
using wasinn_llama::Call;

// The parser of answers also calls itself for each bracket. Counts the brackets that are open at once, in strings or
// not.
constexpr int64_t kDeepestAnswer = 1000;

bool IsTooDeep(const std::string& text) {
  int64_t depth = 0;
  for (const char c : text) {
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (depth > kDeepestAnswer) return true;
  }
  return false;
}

std::string TextOr(const char* text) { return text == nullptr ? "" : text; }

}  // namespace

struct wasinn_llama_templates {
  common_chat_templates_ptr templates;
};

struct wasinn_llama_chat {
  common_chat_parser_params parser;
};

namespace {

Json ListOf(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(text);
  return list;
}

// Its parser calls itself for each parenthesis, and allocates on the way back: the caller's stack has some 4 KiB for
// each byte. The longest template that comes with llama.cpp has a third of it.
constexpr size_t kLongestTemplate = 64 << 10;

// common_chat_templates_init does not report what is wrong with a template that cannot be parsed.
common_chat_templates_ptr ParseTemplates(const wasinn_llama_model& about) {
  const llama_model model = {about};
  try {
    return common_chat_templates_init(&model, "");
  } catch (...) {
    const common_chat_template says_why(TextOr(about.chat_template), TextOr(about.bos), TextOr(about.eos));
    throw;
  }
}

// OpenAI's "tool_choice": a word, or one of the tools, which is then the only one.
void ChooseTools(const Json& choice, common_chat_templates_inputs* inputs) {
  if (choice.is_string()) {
    inputs->tool_choice = common_chat_tool_choice_parse_oaicompat(choice.get<std::string>());
    return;
  }
  const std::string name = choice.at("function").at("name").get<std::string>();
  std::vector<common_chat_tool> chosen;
  for (common_chat_tool& tool : inputs->tools) {
    if (tool.name == name) chosen.push_back(std::move(tool));
  }
  if (chosen.empty()) throw std::invalid_argument("tool-choice: there is no tool '" + name + "'");
  inputs->tools = std::move(chosen);
  inputs->tool_choice = COMMON_CHAT_TOOL_CHOICE_REQUIRED;
}

// Whether the answer continues the last message: as the caller says, or with "prefill_assistant" if that message is the
// assistant's.
void ChooseContinuation(const Json& request, common_chat_templates_inputs* inputs) {
  if (request.contains("continue_final_message")) {
    inputs->continue_final_message = common_chat_continuation_parse(request.at("continue_final_message"));
  }
  const std::vector<common_chat_msg>& messages = inputs->messages;
  const auto is_assistants = [&](size_t from_end) {
    return messages.size() >= from_end && messages[messages.size() - from_end].role == "assistant";
  };
  if (inputs->continue_final_message == COMMON_CHAT_CONTINUATION_NONE) {
    if (!request.value("prefill_assistant", false) || !is_assistants(1)) return;
    if (is_assistants(2)) throw std::invalid_argument("messages: the last two are both the assistant's");
    inputs->continue_final_message = COMMON_CHAT_CONTINUATION_AUTO;
    inputs->add_generation_prompt = false;
  }
  if (inputs->add_generation_prompt) {
    throw std::invalid_argument("there are both add_generation_prompt and continue_final_message");
  }
  if (is_assistants(1) && !messages.back().tool_calls.empty()) {
    throw std::invalid_argument("messages: the last one calls tools, and cannot be continued");
  }
}

// The same steps as in llama.cpp's server (oaicompat_chat_params_parse).
common_chat_templates_inputs InputsOf(const Json& request, const common_chat_templates* templates) {
  common_chat_templates_inputs inputs;
  inputs.messages = common_chat_msgs_parse_oaicompat(request.at("messages"));
  if (request.contains("tools")) inputs.tools = common_chat_tools_parse_oaicompat(request.at("tools"));
  if (request.contains("tool_choice")) ChooseTools(request.at("tool_choice"), &inputs);
  if (request.contains("json_schema")) inputs.json_schema = request.at("json_schema").dump();
  inputs.grammar = request.value("grammar", "");
  inputs.parallel_tool_calls = request.contains("parallel_tool_calls")
                                   ? request.at("parallel_tool_calls").get<bool>()
                                   : common_chat_templates_get_caps(templates).at("supports_parallel_tool_calls");
  inputs.add_generation_prompt = request.value("add_generation_prompt", true);
  ChooseContinuation(request, &inputs);
  inputs.enable_thinking = request.value("enable_thinking", true);
  inputs.reasoning_format = common_reasoning_format_from_name(request.value("reasoning_format", "auto"));
  if (request.contains("chat_template_kwargs")) {
    const Json& arguments = request.at("chat_template_kwargs");
    if (!arguments.is_object()) throw std::invalid_argument("chat-template-kwargs: expected an object");
    for (const auto& [name, value] : arguments.items()) {
      inputs.chat_template_kwargs[name] = value.dump();
    }
  }
  return inputs;
}

// The same as in common_sampler_init.
std::string PatternOf(const common_grammar_trigger& trigger) {
  if (trigger.type == COMMON_GRAMMAR_TRIGGER_TYPE_PATTERN) return trigger.value;
  if (trigger.type != COMMON_GRAMMAR_TRIGGER_TYPE_WORD) throw std::logic_error("a trigger of an unknown kind");
  return regex_escape(trigger.value);
}

std::string ToJson(const common_chat_params& params) {
  Json triggers = Json::array();
  for (const common_grammar_trigger& trigger : params.grammar_triggers) triggers.push_back(PatternOf(trigger));
  return Json{{"prompt", params.prompt},
              {"generation_prompt", params.generation_prompt},
              {"grammar", params.grammar},
              {"lazy", params.grammar_lazy},
              {"triggers", triggers},
              {"stops", ListOf(params.additional_stops)},
              {"preserved", ListOf(params.preserved_tokens)},
              {"thinking_start", params.thinking_start_tag},
              {"thinking_ends", ListOf(params.thinking_end_tags)}}
      .dump();
}

common_chat_parser_params ParserOf(const common_chat_params& params, const common_chat_templates_inputs& inputs) {
  common_chat_parser_params parser(params);
  parser.reasoning_format = inputs.reasoning_format;
  parser.parse_tool_calls = !inputs.tools.empty() && inputs.tool_choice != COMMON_CHAT_TOOL_CHOICE_NONE;
  if (!params.parser.empty()) parser.parser.load(params.parser);
  return parser;
}

}  // namespace

#define WASINN_EXPORT extern "C" __attribute__((visibility("default")))

WASINN_EXPORT int wasinn_llama_grammar(const char* schema, wasinn_llama_call* call) {
  return Call(call, [&] {
    constexpr bool kAlwaysGbnf = true;
    return json_schema_to_grammar(Json::parse(schema), kAlwaysGbnf);
  });
}

WASINN_EXPORT int wasinn_llama_templates_new(const wasinn_llama_model* model, wasinn_llama_call* call,
                                             wasinn_llama_templates** out) {
  std::unique_ptr<wasinn_llama_templates> made;
  for (const char* text : {model->chat_template, model->tool_use}) {
    if (text == nullptr || std::strlen(text) <= kLongestTemplate) continue;
    call->text = wasinn_llama::CopyOf("the template has more than " + std::to_string(kLongestTemplate) + " bytes");
    *out = nullptr;
    return WASINN_LLAMA_TOO_MUCH;
  }
  const int status = Call(call, [&] {
    made = std::make_unique<wasinn_llama_templates>();
    made->templates = ParseTemplates(*model);
    return std::string();
  });
  *out = status == WASINN_LLAMA_OK ? made.release() : nullptr;
  return status;
}

WASINN_EXPORT void wasinn_llama_templates_free(wasinn_llama_templates* templates) { delete templates; }

WASINN_EXPORT int wasinn_llama_chat_new(const wasinn_llama_templates* templates, const char* request,
                                        wasinn_llama_call* call, wasinn_llama_chat** out) {
  std::unique_ptr<wasinn_llama_chat> made;
  const int status = Call(call, [&] {
    const common_chat_templates_inputs inputs = InputsOf(Json::parse(request), templates->templates.get());
    const common_chat_params params = common_chat_templates_apply(templates->templates.get(), inputs);
    made = std::make_unique<wasinn_llama_chat>();
    made->parser = ParserOf(params, inputs);
    return ToJson(params);
  });
  *out = status == WASINN_LLAMA_OK ? made.release() : nullptr;
  return status;
}

WASINN_EXPORT int wasinn_llama_chat_message(const wasinn_llama_chat* chat, const char* generated, size_t size,
                                            int partial, wasinn_llama_call* call) {
  return Call(call, [&] {
    const std::string text(generated, size);
    if (IsTooDeep(text)) throw std::invalid_argument("the answer is too deep");
    return common_chat_parse(text, partial != 0, chat->parser).to_json_oaicompat().dump();
  });
}

WASINN_EXPORT void wasinn_llama_chat_free(wasinn_llama_chat* chat) { delete chat; }
