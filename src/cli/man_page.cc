#include "cli/man_page.h"

#include <fmt/format.h>
#include <wasinn/wasinn.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string_view>
#include <vector>

#include "settings/text.h"

namespace wasinn::cli {
namespace {

// Removes the first character of UTF-8; an invalid one counts as a question mark.
char32_t TakeCharacter(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t size = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
  if (size == 0 || size > text.size()) return text.remove_prefix(1), U'?';
  char32_t character = size == 1 ? first : first & (0xffu >> (size + 1));
  for (size_t i = 1; i < size; ++i) character = character << 6 | (static_cast<unsigned char>(text[i]) & 0x3fu);
  text.remove_prefix(size);
  return character;
}

// Text that roff prints unchanged. Its hyphens are for display; for copied text it needs minus signs.
std::string ManText(std::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    const char32_t c = TakeCharacter(text);
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c < 0x80 ? std::string(1, static_cast<char>(c)) : fmt::format("\\[u{:04X}]", static_cast<uint32_t>(c));
    }
  }
  return escaped;
}

// A line that begins with a dot or an apostrophe would be a request.
std::string ManLine(std::string_view text) {
  const std::string escaped = ManText(text);
  return (escaped.starts_with('.') || escaped.starts_with('\'') ? "\\&" : "") + escaped + "\n";
}

// One paragraph, which roff fills again.
std::string ManParagraph(const std::string& text) {
  std::string lines;
  for (const std::string& line : settings::Split(text, '\n')) {
    if (!line.empty()) lines += ManLine(line);
  }
  return lines;
}

std::string ManExample(const std::string& text) {
  std::string lines = ".PP\n.nf\n";
  for (const std::string& line : settings::Split(text, '\n')) {
    if (!line.empty())
      lines += ManLine(std::string_view(line).substr(std::min(line.find_first_not_of(' '), line.size())));
  }
  return lines + ".fi\n";
}

std::string ManTerm(const FlagText& flag) {
  std::string term;
  for (const std::string& name : flag.names) term += (term.empty() ? "\\fB" : ", \\fB") + ManText(name) + "\\fR";
  if (!flag.value.empty() && !flag.group.empty()) term += " \\fI" + ManText(flag.value) + "\\fR";
  return term;
}

std::string ManEntry(const FlagText& flag) {
  std::string entry = ".TP\n" + ManTerm(flag) + "\n" + ManParagraph(flag.help.empty() ? flag.names[0] : flag.help);
  if (!flag.variable.empty()) entry += ".br\nEnvironment: \\fB" + ManText(flag.variable) + "\\fR\n";
  return entry;
}

std::string ManOptions(const std::vector<FlagText>& flags) {
  std::vector<std::string> groups;
  for (const FlagText& flag : flags) {
    if (std::ranges::find(groups, flag.group) == groups.end()) groups.push_back(flag.group);
  }
  std::string text;
  for (const std::string& group : groups) {
    text += group == "Options" ? ".SH OPTIONS\n" : ".SS " + ManLine(group);
    for (const FlagText& flag : flags) {
      if (flag.group == group) text += ManEntry(flag);
    }
  }
  return text;
}

// Paragraphs of the footer. Examples are a section of their own.
struct ManFooter {
  std::string description, examples;
};
ManFooter ReadManFooter(const std::string& text) {
  ManFooter footer;
  const size_t examples = std::min(text.find("Example:\n"), text.find("Examples:\n"));
  std::string_view rest = std::string_view(text).substr(0, examples);
  while (!rest.empty()) {
    const size_t end = rest.find("\n\n");
    const std::string paragraph = ManParagraph(std::string(rest.substr(0, end)));
    if (!paragraph.empty()) footer.description += ".PP\n" + paragraph;
    rest = end == rest.npos ? "" : rest.substr(end + 2);
  }
  if (examples == text.npos) return footer;
  const size_t begin = text.find('\n', examples) + 1, end = text.find("\n\n", begin);
  footer.examples = ".SH EXAMPLES\n" + ManExample(text.substr(begin, end - begin)).substr(4);
  if (end != text.npos) footer.description += ".PP\n" + ManParagraph(text.substr(end + 2));
  return footer;
}

}  // namespace

std::string ManPage(const CommandText& command) {
  std::string title = command.Title(), about = command.about;
  std::string upper = title;
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  while (about.ends_with('.')) about.pop_back();
  std::string page = fmt::format(".TH {} 1 \"\" \"wasinn {}\" \"wasinn\"\n", ManText(upper), wasinn_version());
  page += ".SH NAME\n" + ManText(title) + " \\- " + ManLine(about);
  page += ".SH SYNOPSIS\n\\fB" + ManText(command.usage) + "\\fR\n";
  const ManFooter footer = ReadManFooter(command.footer);
  page += ".SH DESCRIPTION\n" + ManLine(about + ".") + footer.description;
  for (const FlagText& operand : command.operands) page += ManEntry(operand);
  page += ManOptions(command.flags) + (command.commands.empty() ? "" : ".SH COMMANDS\n");
  for (const CommandText& inner : command.commands) {
    page += ".TP\n\\fB" + ManText(inner.name) + "\\fR\n" + ManParagraph(inner.about);
  }
  page += footer.examples;
  page += ".SH SEE ALSO\n";
  if (!command.name.empty()) return page + ".BR wasinn (1)\n";
  for (const CommandText& inner : command.commands) {
    page += ".BR wasinn\\-" + ManText(inner.name) + (&inner == &command.commands.back() ? " (1)\n" : " (1),\n");
  }
  return page;
}

}  // namespace wasinn::cli
