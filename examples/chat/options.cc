#include "options.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "media.h"

namespace {

constexpr char kUsage[] =
    "usage: chat.wasm [options] [PROMPT...]\n"
    "  --model NAME       a model that the host offers (default: lm)\n"
    "  --n-predict N      at most N tokens\n"
    "  --temp T           0 always takes the likeliest token\n"
    "  --top-k N, --top-p P, --min-p P, --repeat-penalty X\n"
    "                     which tokens may come\n"
    "  --seed N           the same text for the same seed\n"
    "  --ctx-size N       tokens of prompt and answer together\n"
    "  --grammar GBNF     what the text must look like\n"
    "  --reverse-prompt TEXT\n"
    "                     ends the text where TEXT comes\n"
    "  --json-schema JSON  what the answer is, as an object of JSON\n"
    "  --lora NAME        an adapter that the host offers\n"
    "  --system TEXT      the first message to the model, in a conversation\n"
    "  --image FILE, --sound FILE\n"
    "                     belongs to the first question; can be repeated\n"
    "Writes how PROMPT goes on, as it comes. Without PROMPT each line of the input is a question, and the model's\n"
    "chat template is used.\n";

constexpr auto kNumbers = std::to_array<std::string_view>(
    {"n-predict", "temp", "top-k", "top-p", "min-p", "repeat-penalty", "seed", "ctx-size"});
constexpr auto kTexts = std::to_array<std::string_view>({"grammar", "reverse-prompt", "json-schema", "lora"});
constexpr auto kOwn = std::to_array<std::string_view>({"model", "system", "image", "sound"});

bool Refuse(const char* what, std::string_view arg) {
  std::fprintf(stderr, "chat: %s %.*s\n%s", what, static_cast<int>(arg.size()), arg.data(), kUsage);
  return false;
}

// `text` as JSON writes numbers; "" if it is no number.
std::string Number(const char* text) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (end == text || *end != '\0' || !std::isfinite(value)) return "";
  char number[32];
  std::snprintf(number, sizeof(number), "%.15g", value);
  return number;
}

bool Contains(const auto& names, std::string_view name) { return std::ranges::find(names, name) != names.end(); }

// Adds "--NAME VALUE" to `members` of the configuration.
bool ParseOption(std::string_view name, const char* value, Options* options, std::string* members) {
  if (name == "model" || name == "system") {
    (name == "model" ? options->model : options->system) = value;
    return true;
  }
  if (name == "image" || name == "sound") {
    const std::string part = name == "image" ? ImagePart(value) : SoundPart(value);
    options->media += part + ", ";
    return !part.empty();
  }
  const std::string json = Contains(kNumbers, name) ? Number(value) : Quoted(value);
  if (json.empty()) return Refuse("no number:", value);
  *members += (members->empty() ? "" : ", ") + Quoted(name) + ": " + json;
  return true;
}

}  // namespace

std::string Quoted(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    char escaped[8];
    if (c == '"' || c == '\\') {
      json += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::snprintf(escaped, sizeof(escaped), "\\u%04x", static_cast<unsigned>(c));
      json += escaped;
    } else {
      json += c;
    }
  }
  return json + "\"";
}

bool ParseOptions(int argc, char** argv, Options* options) {
  std::string members;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (!arg.starts_with("--")) {
      options->prompt += (options->prompt.empty() ? "" : " ") + std::string(arg);
      continue;
    }
    const std::string_view name = arg.substr(2);
    if (!Contains(kOwn, name) && !Contains(kNumbers, name) && !Contains(kTexts, name))
      return Refuse("unknown option", arg);
    if (i + 1 == argc) return Refuse("a value is missing after", arg);
    if (!ParseOption(name, argv[++i], options, &members)) return false;
  }
  if (!options->prompt.empty() && !options->media.empty())
    return Refuse("there is a PROMPT beside", "--image or --sound");
  if (options->prompt.empty()) members += members.empty() ? "\"chat\": true" : ", \"chat\": true";
  if (!members.empty()) options->config = "{" + members + "}";
  return true;
}
