#include "core/text.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <vector>

namespace wasinn::core {
namespace {

// Levenshtein's distance.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

bool IsQuote(char one) { return one == '\'' || one == '"' || one == '`'; }

// The end of the path that begins at `start`. A path in quotes may have any other character.
size_t EndOfPath(std::string_view text, size_t start) {
  const char before = start == 0 ? ' ' : text[start - 1];
  if (IsQuote(before)) return std::min(text.find(before, start), text.size());
  return std::min(text.find_first_of(" \t\n'\"`,;:()[]{}<>|", start), text.size());
}

// A guest may find out the names in the root folder, and in the working one, by using them as its own names, but nothing
// below.
bool IsPath(std::string_view path) {
  const std::string first(path.substr(0, path.find('/', 1)));
  return first != "/" && ::access(first.c_str(), F_OK) == 0;
}

// In quotes, of a model or an artifact: "grpc://10.0.0.5:8001/m". Its host and its port are the operator's.
bool IsAddress(std::string_view quoted) {
  const size_t scheme = quoted.find("://");
  return scheme != 0 && scheme != std::string_view::npos &&
         std::ranges::all_of(quoted.substr(0, scheme), [](unsigned char c) { return std::isalnum(c) != 0; });
}

bool MayBeginPath(std::string_view text, size_t at) {
  const char before = at == 0 ? ' ' : text[at - 1];
  if (IsQuote(before)) return text.substr(at, EndOfPath(text, at) - at).contains('/');  // perhaps a relative one
  if (text[at] != '/') return false;
  const bool is_word = std::isalnum(static_cast<unsigned char>(before)) != 0 || (before & 0x80) != 0;
  return !is_word && std::string_view("/._-~*").find(before) == std::string_view::npos;
}

}  // namespace

std::string WithoutPaths(std::string_view message) {
  std::string text;
  for (size_t at = 0; at < message.size();) {
    const size_t end = MayBeginPath(message, at) ? EndOfPath(message, at) : at;
    std::string_view path = message.substr(at, end - at);
    if (IsAddress(path)) {
      text += "…";
      at = end;
      continue;
    }
    if (path.empty() || !IsPath(path)) {
      text += message[at++];
      continue;
    }
    // Those of a folder, or of the sentence.
    while (path.size() > 1 && (path.ends_with('/') || path.ends_with('.'))) path.remove_suffix(1);
    text += path.substr(path.rfind('/') + 1);
    at += path.size();
    while (at < message.size() && message[at] == '/') ++at;
  }
  return text;
}

std::string Join(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string SuggestNear(std::string_view word, std::span<const std::string> known) {
  if (known.empty()) return "";
  const auto nearest =
      std::ranges::min_element(known, {}, [&](const std::string& candidate) { return Distance(word, candidate); });
  const bool is_near = Distance(word, *nearest) <= std::max<size_t>(2, word.size() / 3);
  return is_near ? "; did you mean '" + *nearest + "'?" : "";
}

std::string Suggest(std::string_view word, std::span<const std::string> known) {
  if (known.empty()) return "; there are none here";
  const std::string near = SuggestNear(word, known);
  return near.empty() ? "; known are " + Join(known) : near;
}

}  // namespace wasinn::core
