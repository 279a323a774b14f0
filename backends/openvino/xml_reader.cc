#include "openvino/xml_reader.h"

#include <fmt/format.h>

#include "common/error.h"

namespace wasinn::openvino {

using backend::Error;

namespace {

bool IsXmlSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool EndsName(char c) { return IsXmlSpace(c) || c == '>' || c == '/' || c == '=' || c == '<' || c == '"' || c == '\''; }

}  // namespace

std::optional<std::string_view> XmlTag::Find(std::string_view key) const {
  for (const auto& [attribute, value] : attributes) {
    if (attribute == key) return value;
  }
  return std::nullopt;
}

XmlReader::XmlReader(std::string_view document) : text_(document) {
  constexpr std::string_view kUtf8Mark = "\xef\xbb\xbf";
  if (text_.starts_with(kUtf8Mark)) text_.remove_prefix(kUtf8Mark.size());
  if (text_.find('\0') != std::string_view::npos) Refuse("a byte of value 0");
}

void XmlReader::Refuse(const char* what) const {
  throw Error(WASINN_INVALID_ENCODING, fmt::format("the XML has {} at byte {}", what, at_));
}

void XmlReader::SkipPast(std::string_view end) {
  const size_t found = text_.find(end, at_);
  if (found == std::string_view::npos) Refuse("something that does not end");
  at_ = found + end.size();
}

void XmlReader::SkipSpace() {
  while (at_ < text_.size() && IsXmlSpace(text_[at_])) ++at_;
}

std::string_view XmlReader::ReadName() {
  const size_t start = at_;
  while (at_ < text_.size() && !EndsName(text_[at_])) ++at_;
  if (at_ == start) Refuse("no name where one is expected");
  return text_.substr(start, at_ - start);
}

void XmlReader::ReadAttributes() {
  while (true) {
    SkipSpace();
    if (at_ >= text_.size()) Refuse("a tag that does not end");
    if (text_[at_] == '>' || text_[at_] == '/') return;
    const std::string_view key = ReadName();
    SkipSpace();
    if (at_ >= text_.size() || text_[at_] != '=') Refuse("an attribute without a value");
    ++at_;
    SkipSpace();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '"' && quote != '\'') Refuse("an attribute whose value is not quoted");
    const size_t start = ++at_;
    at_ = text_.find(quote, at_);
    if (at_ == std::string_view::npos) {
      at_ = start;
      Refuse("a value that does not end");
    }
    const std::string_view value = text_.substr(start, at_ - start);
    if (value.find('<') != std::string_view::npos) Refuse("a value with '<' in it before");
    tag_.attributes.emplace_back(key, value);
    ++at_;
  }
}

const XmlTag* XmlReader::Next() {
  if (leave_) path_.pop_back();
  leave_ = false;
  while (true) {
    at_ = text_.find('<', at_);
    if (at_ == std::string_view::npos) {
      at_ = text_.size();
      if (!path_.empty()) Refuse("an element that is not closed");
      return nullptr;
    }
    if (Skips("<!--")) {
      at_ += 4;
      SkipPast("-->");
    } else if (Skips("<?")) {
      SkipPast("?>");
    } else if (Skips("<![CDATA[")) {
      SkipPast("]]>");
    } else if (Skips("<!")) {
      Refuse("a document type");
    } else {
      break;
    }
  }
  ++at_;
  tag_ = {};
  if (Skips("/")) {
    ++at_;
    tag_.name = ReadName();
    tag_.closes = true;
    SkipSpace();
    if (path_.empty() || path_.back() != tag_.name) Refuse("a closing tag of nothing that is open");
  } else {
    tag_.name = ReadName();
    tag_.opens = true;
    if (path_.size() >= kMostDepth) Refuse("too many elements within each other");
    path_.push_back(tag_.name);
    ReadAttributes();
    tag_.closes = Skips("/");
    if (tag_.closes) ++at_;
  }
  if (!Skips(">")) Refuse("a tag that does not end in '>'");
  ++at_;
  leave_ = tag_.closes;
  return &tag_;
}

}  // namespace wasinn::openvino
