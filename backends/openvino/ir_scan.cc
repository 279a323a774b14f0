#include "openvino/ir_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <vector>

#include "common/error.h"
#include "common/saturating.h"
#include "openvino/xml_reader.h"

namespace wasinn::openvino {

using backend::Error;

namespace {

std::optional<uint64_t> ParseNumber(std::string_view text) {
  uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

class IrScanner {
 public:
  IrScanner(std::string_view xml, const IrLimits& limits) : reader_(xml), limits_(limits) {}

  void Scan() {
    bool any = false;
    while (const XmlTag* tag = reader_.Next()) {
      if (reader_.path().size() == 1 && tag->opens) {
        if (tag->name != "net" || any) throw Error(WASINN_INVALID_ENCODING, "the XML is no IR: expected one <net>");
        any = true;
      }
      if (tag->opens) Open(*tag);
      if (tag->closes && tag->name == "layer") types_.pop_back();
    }
    if (!any) throw Error(WASINN_INVALID_ENCODING, "the XML is no IR: expected <net>");
  }

 private:
  void Open(const XmlTag& tag) {
    CheckWords(tag);
    if (tag.name == "layer") {
      OpenLayer(tag);
    } else if (tag.name == "data" && !types_.empty() && types_.back() == "Const") {
      CheckConstant(tag);
    } else if (tag.name == "port") {
      elements_ = 1;
    } else if (tag.name == "dim") {
      CheckDim();
    } else if (tag.name == "pre-process") {
      throw Error(WASINN_UNSUPPORTED_OPERATION,
                  "the IR has a <pre-process>, which is not taken from guests: convert the model anew");
    }
  }

  // OpenVINO keeps the place of the weights' file in the model, and its devices read it there.
  static void CheckWords(const XmlTag& tag) {
    constexpr std::string_view kPath = "weights_path";
    const auto names = [&](std::string_view text) { return text.find(kPath) != std::string_view::npos; };
    const bool names_file = names(tag.name) || std::ranges::any_of(tag.attributes, [&](const auto& attribute) {
                              return names(attribute.first) || names(attribute.second);
                            });
    if (names_file) throw Error(WASINN_SECURITY, "the IR names a file for its weights");
    // An entity could hide a word from us.
    const bool hidden = std::ranges::any_of(
        tag.attributes, [](const auto& attribute) { return attribute.second.find("&#") != std::string_view::npos; });
    if (hidden) throw Error(WASINN_INVALID_ENCODING, "the IR has numbered entities (\"&#\") in its attributes");
  }

  void OpenLayer(const XmlTag& tag) {
    const std::string_view type = tag.Find("type").value_or("");
    const bool nested = std::ranges::find(types_, "TensorIterator") != types_.end();
    if (type == "Loop" || (type == "TensorIterator" && nested)) {
      throw Error(WASINN_UNSUPPORTED_OPERATION,
                  fmt::format("the IR has a {}{}, which OpenVINO does not interrupt: a guest's model may not have it; "
                              "the host can offer the model by name",
                              type, nested ? " within a TensorIterator" : ""));
    }
    types_.push_back(type);
  }

  void CheckConstant(const XmlTag& tag) const {
    const auto offset = ParseNumber(tag.Find("offset").value_or(""));
    const auto size = ParseNumber(tag.Find("size").value_or(""));
    if (!offset || !size) throw Error(WASINN_INVALID_ENCODING, "the IR has a constant without offset and size");
    if (*offset <= limits_.weights && *size <= limits_.weights - *offset) return;
    throw Error(WASINN_INVALID_ENCODING, fmt::format("the IR has a constant of {} bytes from byte {} on, but {} bytes "
                                                     "of weights were given",
                                                     *size, *offset, limits_.weights));
  }

  void CheckDim() {
    // The number is the text behind the tag; -1 and the like are not known before a compute.
    const std::string_view rest = reader_.rest();
    const auto dim = ParseNumber(rest.substr(0, rest.find('<')));
    if (!dim) return;
    elements_ = backend::MulSat(elements_, *dim);
    if (elements_ <= limits_.max_bytes) return;
    throw Error(WASINN_TOO_LARGE, fmt::format("the IR declares a tensor of {} elements or more: no more than {} bytes "
                                              "are allowed",
                                              elements_, limits_.max_bytes));
  }

  XmlReader reader_;
  const IrLimits limits_;
  std::vector<std::string_view> types_;  // of the open layers, the outermost first
  uint64_t elements_ = 1;                // of the open port
};

// "f32", "bf16", "i4", "f8e4m3", "boolean"
uint64_t BitsOf(std::string_view type) {
  const size_t digits = std::min(type.find_first_of("0123456789"), type.size());
  uint64_t bits = 8;
  std::from_chars(type.data() + digits, type.data() + type.size(), bits);
  return bits;
}

// "1,4", "1..8,4"; the most that it can be. 0 where a part is open, as in "?,4", "1..,4" and "...".
uint64_t ElementsOf(std::string_view shape) {
  uint64_t elements = 1;
  while (!shape.empty()) {
    const size_t comma = shape.find(',');
    std::string_view dim = shape.substr(0, comma);
    if (const size_t range = dim.find(".."); range != std::string_view::npos) dim.remove_prefix(range + 2);
    const auto most = ParseNumber(dim);
    if (!most) return 0;
    elements = backend::MulSat(elements, *most);
    shape.remove_prefix(comma == std::string_view::npos ? shape.size() : comma + 1);
  }
  return elements;
}

uint64_t BytesOfVariable(std::string_view shape, std::string_view type) {
  const uint64_t bits = backend::MulSat(ElementsOf(shape), BitsOf(type));
  return bits == UINT64_MAX ? bits : bits / 8 + (bits % 8 != 0);
}

}  // namespace

uint64_t StateBytes(std::string_view xml) {
  std::map<std::string_view, uint64_t> variables;  // several nodes may read one
  try {
    XmlReader reader(xml);
    while (const XmlTag* tag = reader.Next()) {
      const auto id = tag->Find("variable_id"), shape = tag->Find("variable_shape"), type = tag->Find("variable_type");
      if (tag->name != "data" || !tag->opens || !id || !shape || !type) continue;
      uint64_t& bytes = variables[*id];
      bytes = std::max(bytes, BytesOfVariable(*shape, *type));
    }
  } catch (const Error&) {
    return 0;
  }
  uint64_t sum = 0;
  for (const auto& [id, bytes] : variables) sum = backend::AddSat(sum, bytes);
  constexpr uint64_t kBuffers = 2;
  return backend::MulSat(sum, kBuffers);
}

bool LooksLikeXml(std::string_view bytes) {
  constexpr std::string_view kUtf8Mark = "\xef\xbb\xbf";
  if (bytes.starts_with(kUtf8Mark)) bytes.remove_prefix(kUtf8Mark.size());
  const size_t start = bytes.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos && bytes[start] == '<';
}

void ScanGuestIr(std::string_view xml, const IrLimits& limits) { IrScanner(xml, limits).Scan(); }

}  // namespace wasinn::openvino
