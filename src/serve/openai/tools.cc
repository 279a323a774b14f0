#include "serve/openai/tools.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "serve/log.h"

namespace wasinn::serve::openai {
namespace {

using simdjson::dom::element;

struct Tool {
  std::string name, json;  // as in a chat
};

// Empty: not a function.
std::optional<Tool> ReadTool(element given, const char* place) {
  Fields fields(given, place);
  const std::string type = fields.Text("type").value_or("function");
  if (type != "function") {
    LogLeftOut(place, type);
    return std::nullopt;
  }
  // null is a valid value in a schema.
  std::string text = WithoutNulls(given, {"parameters"});
  if (auto function = fields.Object("function")) return Tool{function->Text("name").value_or(""), std::move(text)};
  auto name = fields.Text("name");
  if (name) text = R"({"type":"function","function":)" + text + '}';
  return Tool{name.value_or(""), std::move(text)};
}

struct ToolChoice {
  std::string mode;                                 // the model's word; "": not set
  std::optional<std::vector<std::string>> allowed;  // only these
};

ToolChoice ReadChoice(element given) {
  if (given.is_string()) return {.mode = ToText(given), .allowed = {}};
  Fields choice(given, "tool_choice");
  const std::string type = choice.Text("type").value_or("");
  if (type == "function") {
    auto inner = choice.Object("function");
    const std::string name = (inner ? *inner : choice).Text("name").value_or("");
    return {.mode = Dump({{"type", "function"}, {"function", {{"name", name}}}}), .allowed = {}};
  }
  if (type != "allowed_tools") {
    throw ApiError{.message = fmt::format("a tool_choice of the type '{}' is not supported here", type),
                   .param = "tool_choice",
                   .code = "unsupported_parameter"};
  }
  auto inner = choice.Object("allowed_tools");
  Fields& place = inner ? *inner : choice;
  ToolChoice read{.mode = Dump(place.Text("mode").value_or("auto")), .allowed = std::vector<std::string>()};
  const element tools = place.Get("tools");
  if (!tools.is_array()) ThrowWrong("tool_choice", "tool_choice.tools is not a list");
  for (const element one : tools.get_array()) {
    if (auto tool = ReadTool(one, "tool_choice.tools")) read.allowed->push_back(std::move(tool->name));
  }
  return read;
}

// The allowed tools, as elements of a list.
std::string ListOf(element tools, const ToolChoice& choice) {
  if (!tools.is_array()) ThrowWrong("tools", "tools is not a list");
  std::string list;
  for (const element one : tools.get_array()) {
    const auto tool = ReadTool(one, "tools");
    const bool is_allowed = tool && (!choice.allowed || std::ranges::count(*choice.allowed, tool->name) > 0);
    if (is_allowed) list += (list.empty() ? "" : ",") + tool->json;
  }
  return list;
}

}  // namespace

void LogLeftOut(const char* what, std::string_view type) {
  constexpr size_t kMost = 64;
  LogOnce(
      fmt::format("/v1: {} of the type {} are left out: only functions are supported", what, type.substr(0, kMost)));
}

void ReadTools(Fields& fields, Options& options) {
  const auto tools = fields.Find("tools"), given = fields.Find("tool_choice");
  const auto parallel = fields.Flag("parallel_tool_calls");
  const ToolChoice choice = given ? ReadChoice(*given) : ToolChoice();
  const std::string list = tools ? ListOf(*tools, choice) : "";
  if (list.empty()) {
    const bool is_moot = choice.mode.empty() || choice.mode == R"("auto")" || choice.mode == R"("none")";
    if (!is_moot) ThrowWrong("tool_choice", "tool_choice is set, but no tool is a function");
    return;
  }
  options.Add("tools", '[' + list + ']');
  if (given) options.Add("tool-choice", choice.mode);
  if (parallel) options.Add("parallel-tool-calls", *parallel ? "true" : "false");
}

}  // namespace wasinn::serve::openai
