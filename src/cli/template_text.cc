#include "cli/template_text.h"

namespace wasinn::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string_view TakeLine(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end);
  return line;
}

std::expected<std::string, std::string> FillLine(std::string_view line, const Json& values) {
  std::string filled;
  while (true) {
    const size_t begin = line.find("{{"), end = line.find("}}", begin);
    if (begin == line.npos || end == line.npos) return filled.append(line);
    const std::string name(line.substr(begin + 2, end - begin - 2));
    const auto value = values.find(name);
    if (value == values.end() || !value->is_string()) return std::unexpected("no value is called '" + name + "'");
    filled.append(line.substr(0, begin)).append(value->get_ref<const std::string&>());
    line.remove_prefix(end + 2);
  }
}

}  // namespace

std::expected<std::string, std::string> FillTemplate(std::string_view text, const Json& values) {
  std::string filled;
  while (!text.empty()) {
    const std::string_view line = TakeLine(text);
    if (!line.starts_with("{{#") || !line.ends_with("}}\n")) {
      auto more = FillLine(line, values);
      if (!more) return more;
      filled += *more;
      continue;
    }
    const std::string name(line.substr(3, line.size() - 6)), last = "{{/" + name + "}}\n";
    const size_t end = text.find(last);
    if (end == text.npos || !values.contains(name)) return std::unexpected("lines '" + name + "' have no end or value");
    for (const Json& item : values[name]) {
      Json inner = values;
      inner.update(item);
      auto more = FillTemplate(text.substr(0, end), inner);
      if (!more) return more;
      filled += *more;
    }
    text.remove_prefix(end + last.size());
  }
  return filled;
}

}  // namespace wasinn::cli
