#include "llama/chat.h"

#include <fmt/ranges.h>
#include <sys/random.h>

#include <array>

#include "base/json.h"
#include "common/json.h"
#include "common/throw.h"
#include "llama/chat_by_name.h"
#include "llama/model.h"
#include "llama/prompt.h"

namespace wasinn::llama {

using backend::Error;
using backend::Throw;
using nlohmann::ordered_json;

namespace {

constexpr size_t kMaxTools = 128;

void CheckMessages(std::string_view messages) {
  if (messages.size() > kMaxMessageBytes) {
    Throw(WASINN_ERROR_PROMPT_TOO_LONG, "chat: the messages have {} bytes: no more than {} are allowed",
          messages.size(), kMaxMessageBytes);
  }
  constexpr const char* kSpace = " \t\r\n";
  const size_t start = messages.find_first_not_of(kSpace);
  const bool is_list = start != std::string_view::npos && messages[start] == '[';
  const size_t first = is_list ? messages.find_first_not_of(kSpace, start + 1) : start;
  const bool is_empty = first == std::string_view::npos || messages[first] == ']';
  if (is_list && !is_empty && backend::OrderedJsonCheck::Passes(messages, kDeepestMessages)) return;
  throw Error(WASINN_ERROR_INVALID_ARGUMENT,
              R"(with "chat" the prompt is a JSON array of messages: [{"role": "user", "content": "…"}])");
}

// The arguments of every function become a part of one grammar.
void CheckTools(const std::string& text) {
  const auto tools = base::ParseJson(text);
  if (!tools.is_array() || tools.size() > kMaxTools) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "tools: expected a list of at most {} tools", kMaxTools);
  }
}

std::string Quoted(const std::string& text) { return ordered_json(text).dump(); }

// Uses the words of llama.cpp's server.
const char* ContinuationOf(const std::string& word) {
  if (word == "never") return "false";
  if (word == "content") return R"("content")";
  return word == "reasoning_content" ? R"("reasoning_content")" : "true";
}

// JSON parts have been checked, and are copied as text, which keeps the order of their names.
std::string RequestOf(std::string_view messages, const Settings& settings) {
  const ChatSettings& chat = settings.of_chat;
  std::string request =
      fmt::format(R"({{"messages":{},"add_generation_prompt":{},"enable_thinking":{},)"
                  R"("reasoning_format":{})",
                  messages, chat.add_generation_prompt, chat.enable_thinking, Quoted(chat.reasoning_format));
  const auto add = [&request](const char* name, const std::string& json) {
    if (!json.empty()) request += fmt::format(R"(,"{}":{})", name, json);
  };
  add("tools", chat.tools);
  add("tool_choice", chat.tool_choice);
  add("chat_template_kwargs", chat.template_arguments);
  add("json_schema", settings.json_schema);
  if (!settings.grammar.empty()) add("grammar", Quoted(settings.grammar));
  if (chat.continue_final_message == "auto") {
    add("prefill_assistant", "true");
  } else {
    add("continue_final_message", ContinuationOf(chat.continue_final_message));
  }
  if (chat.parallel_tool_calls) add("parallel_tool_calls", *chat.parallel_tool_calls ? "true" : "false");
  return request + '}';
}

[[noreturn]] void RefuseWithoutTemplate() {
  Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "chat: the model has no chat template; name one with chat-template");
}

std::string NewId() {
  std::array<uint32_t, 3> random = {};
  if (getrandom(random.data(), sizeof(random), 0) != sizeof(random)) {
    Throw(WASINN_ERROR_RUNTIME, "no random numbers are available");
  }
  return fmt::format("call_{:08x}", fmt::join(random, ""));
}

}  // namespace

ChatTemplates::ChatTemplates(const Model& model, void* account)
    : model_(model), reservation_(model.host().services(), account), templates_(nullptr, {&model.host().common()}) {}

const wasinn_llama_templates* ChatTemplates::Get(const std::atomic<bool>& cancelled) const {
  const std::lock_guard lock(mutex_);
  if (templates_ != nullptr) return templates_.get();
  const LlamaLibrary& library = model_.host().library();
  const std::string& given = model_.config().defaults.of_chat.template_text;
  const bool is_given = ChatSettings::IsJinja(given);
  const auto piece = [&](llama_token token) {
    return token == LLAMA_TOKEN_NULL ? std::string() : PieceOf(model_, token, kWithSpecial);
  };
  const llama_token bos = library.vocab_bos(model_.vocabulary()), eos = library.vocab_eos(model_.vocabulary());
  const std::string bos_text = piece(bos), eos_text = piece(eos);
  const wasinn_llama_model about = {
      .chat_template = is_given ? given.c_str() : library.model_chat_template(model_.get(), nullptr),
      .tool_use = is_given ? nullptr : library.model_chat_template(model_.get(), "tool_use"),
      .bos = bos == LLAMA_TOKEN_NULL ? nullptr : bos_text.c_str(),
      .eos = eos == LLAMA_TOKEN_NULL ? nullptr : eos_text.c_str(),
      .adds_bos = library.vocab_get_add_bos(model_.vocabulary()) ? 1 : 0,
      .adds_eos = library.vocab_get_add_eos(model_.vocabulary()) ? 1 : 0};
  if (about.chat_template == nullptr && about.tool_use == nullptr) RefuseWithoutTemplate();
  templates_ = model_.host().common().NewTemplates(about, {.cancelled = &cancelled, .reservation = &reservation_});
  return templates_.get();
}

Chat::Chat(const Model& model, std::string_view messages, const Settings& settings, const std::atomic<bool>& cancelled,
           void* account)
    : library_(model.host().common()), reservation_(model.host().services(), account), chat_(nullptr, {&library_}) {
  CheckMessages(messages);
  const ChatSettings& chat = settings.of_chat;
  if (chat.names_template() || !library_.found()) {
    if (!chat.tools.empty()) {
      throw Error(WASINN_ERROR_UNSUPPORTED_OPERATION,
                  chat.names_template()
                      ? "tools: a chat-template by name does not support them"
                      : "tools: libwasinn_llama_common.so was not found; scripts/deps.sh llama installs it");
    }
    if (chat.continue_final_message != "never" && chat.continue_final_message != "auto") {
      Throw(WASINN_ERROR_INVALID_ARGUMENT, "continue-final-message: a chat-template by name does not support it");
    }
    const char* text = chat.template_text.empty() ? model.host().library().model_chat_template(model.get(), nullptr)
                                                  : chat.template_text.c_str();
    if (text == nullptr) RefuseWithoutTemplate();
    form_.prompt = ChatByName(model, messages, text, chat.add_generation_prompt);
    return;
  }
  if (!settings.grammar.empty() && !settings.json_schema.empty()) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "grammar and json-schema: expected at most one of them");
  }
  if (!chat.tools.empty()) CheckTools(chat.tools);
  std::string text;
  chat_ = library_.NewChat(model.chat_templates().Get(cancelled), RequestOf(messages, settings),
                           {.cancelled = &cancelled, .reservation = &reservation_}, &text);
  ReadForm(text);
  if (!chat.tools.empty() && chat.requires_call()) CheckRequiresCall(settings);
}

// llama.cpp leaves out the call if the template has no tools, and if there is a schema.
void Chat::CheckRequiresCall(const Settings& settings) const {
  if (!settings.json_schema.empty()) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT,
          "tool-choice and json-schema: no call can be required of an answer by a schema");
  }
  if (form_.grammar.empty() || form_.lazy) {
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "tool-choice: the chat template has no tools: no call can be required");
  }
}

void Chat::ReadForm(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  json.at("prompt").get_to(form_.prompt);
  json.at("generation_prompt").get_to(form_.generation_prompt);
  json.at("grammar").get_to(form_.grammar);
  json.at("lazy").get_to(form_.lazy);
  json.at("triggers").get_to(form_.triggers);
  json.at("stops").get_to(form_.stops);
  json.at("preserved").get_to(form_.preserved);
  json.at("thinking_start").get_to(form_.thinking_start);
  json.at("thinking_ends").get_to(form_.thinking_ends);
  reservation_.Resize(reservation_.bytes() + text.size());
}

std::string Chat::WithIds(const std::string& text) {
  auto message = ordered_json::parse(text);
  calls_tools_ = message.contains("tool_calls") && !message["tool_calls"].empty();
  if (!calls_tools_) return message.dump();
  auto& calls = message["tool_calls"];
  for (size_t i = 0; i < calls.size(); ++i) {
    if (ids_.size() <= i) ids_.push_back(calls[i].value("id", NewId()));
    // In OpenAI's order.
    calls[i] = {{"id", ids_[i]}, {"type", "function"}, {"function", calls[i]["function"]}};
  }
  return message.dump();
}

std::string Chat::Message(const std::string& generated, bool partial) {
  const auto plain = [](const std::string& content) {
    return ordered_json{{"role", "assistant"}, {"content", content}}.dump();
  };
  if (chat_ == nullptr) return plain(generated);
  try {
    return last_ = WithIds(library_.MessageOf(chat_.get(), generated, partial, {.reservation = &reservation_}));
  } catch (const NotTaken&) {
    if (!partial) return plain(generated);
    return last_.empty() ? plain("") : last_;
  }
}

}  // namespace wasinn::llama
