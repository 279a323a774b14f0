#include "openvino/ir_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <new>
#include <optional>
#include <pugixml.hpp>

#include "common/error.h"
#include "common/saturating.h"

namespace wasinn::openvino {

using backend::Error;

namespace {

std::optional<uint64_t> ParseNumber(std::string_view text) {
  uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// As a stream reads it, which OpenVINO has for dimensions: what is behind the digits does not count.
std::optional<uint64_t> NumberAtStart(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n\v\f\r"), text.size()));
  if (text.starts_with('+')) text.remove_prefix(1);
  uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed == std::errc::result_out_of_range) return UINT64_MAX;
  return failed == std::errc() ? std::optional(value) : std::nullopt;
}

// A tree of nodes, which takes more memory than the text: 64 bytes for each element and each text, 40 for each attribute.
// No more than this for each byte of the text, which is many times what an IR takes, and the limit beside it.
constexpr uint64_t kTreeBytes = 16;

uint64_t MostTreeBytes(std::string_view xml) {
  uint64_t nodes = 0, attributes = 0;
  for (size_t i = 0; i < xml.size(); ++i) {
    attributes += xml[i] == '=' ? 1 : 0;
    if (xml[i] != '<') continue;
    nodes += i + 1 < xml.size() && xml[i + 1] == '/' ? 1 : 2;  // it, and a text before it
  }
  return 64 * nodes + 40 * attributes;
}

[[noreturn]] void RefuseXml(std::string_view what, ptrdiff_t at) {
  throw Error(WASINN_INVALID_ENCODING, fmt::format("the XML cannot be read: {} at byte {}", what, at));
}

// As OpenVINO does, with the same parser, so that both see the same. Neither that nor what frees the tree recurses.
pugi::xml_document Parse(std::string_view xml, uint64_t max_bytes) {
  // With them UTF-16 and UTF-32, too.
  if (const size_t at = xml.find('\0'); at != std::string_view::npos) RefuseXml("a byte of value 0", at);
  const uint64_t tree = MostTreeBytes(xml), most = backend::AddSat(max_bytes, kTreeBytes * xml.size());
  if (tree > most) {
    throw Error(
        WASINN_TOO_LARGE,
        fmt::format("the XML's elements and attributes become {} bytes: no more than {} are allowed", tree, most));
  }
  pugi::xml_document document;
  const pugi::xml_parse_result parsed =
      document.load_buffer(xml.data(), xml.size(), pugi::parse_default | pugi::parse_doctype);
  if (parsed.status == pugi::status_out_of_memory) throw std::bad_alloc();
  if (!parsed) RefuseXml(parsed.description(), parsed.offset);
  return document;
}

// Calls `visit` for each element, the outer ones first, with the number of those that it is within.
template <typename Visit>
void Walk(const pugi::xml_node& root, const Visit& visit) {
  size_t depth = 0;
  for (pugi::xml_node node = root.first_child(); node;) {
    if (node.type() == pugi::node_element) visit(node, depth);
    if (node.first_child()) {
      node = node.first_child();
      ++depth;
      continue;
    }
    while (node != root && !node.next_sibling()) {
      node = node.parent();
      --depth;
    }
    if (node == root) return;
    node = node.next_sibling();
  }
}

// The layer that it is in, at any depth; none: empty.
pugi::xml_node LayerOf(pugi::xml_node node) {
  do node = node.parent();
  while (node && std::string_view(node.name()) != "layer");
  return node;
}

class IrScanner {
 public:
  IrScanner(std::string_view xml, const IrLimits& limits) : document_(Parse(xml, limits.max_bytes)), limits_(limits) {
    // Another version of the parser could read an entity otherwise, and a word that we look for with it.
    if (xml.find("&#") != std::string_view::npos) {
      throw Error(WASINN_INVALID_ENCODING, "the IR has numbered entities (\"&#\")");
    }
  }

  void Scan() const {
    bool any = false;
    for (const pugi::xml_node& top : document_) {
      if (top.type() == pugi::node_doctype) RefuseXml("a document type", top.offset_debug());
      if (top.type() != pugi::node_element) continue;
      if (std::string_view(top.name()) != "net" || any) {
        throw Error(WASINN_INVALID_ENCODING, "the XML is no IR: expected one <net>");
      }
      any = true;
    }
    Walk(document_, [this](const pugi::xml_node& node, size_t depth) {
      if (depth >= kMostDepth) RefuseXml("too many elements within each other", node.offset_debug());
      Check(node);
    });
  }

 private:
  static constexpr size_t kMostDepth = 256;

  void Check(const pugi::xml_node& node) const {
    CheckWords(node);
    const std::string_view name = node.name();
    if (name == "layer") {
      CheckLayer(node);
    } else if (name == "data" && std::string_view(LayerOf(node).attribute("type").value()) == "Const") {
      CheckConstant(node);
    } else if (name == "port") {
      CheckPort(node);
    } else if (name == "pre-process") {
      throw Error(WASINN_UNSUPPORTED_OPERATION,
                  "the IR has a <pre-process>, which is not taken from guests: convert the model anew");
    }
  }

  // OpenVINO keeps the place of the weights' file in the model, and its devices read it there.
  static void CheckWords(const pugi::xml_node& node) {
    const auto names = [](std::string_view text) { return text.find("weights_path") != std::string_view::npos; };
    bool names_file = names(node.name());
    for (const pugi::xml_attribute& attribute : node.attributes()) {
      names_file = names_file || names(attribute.name()) || names(attribute.value());
    }
    if (names_file) throw Error(WASINN_SECURITY, "the IR names a file for its weights");
  }

  static void CheckLayer(const pugi::xml_node& node) {
    const std::string_view type = node.attribute("type").value();
    bool nested = false;
    for (pugi::xml_node layer = LayerOf(node); layer && !nested; layer = LayerOf(layer)) {
      nested = std::string_view(layer.attribute("type").value()) == "TensorIterator";
    }
    if (type == "Loop" || (type == "TensorIterator" && nested)) {
      throw Error(WASINN_UNSUPPORTED_OPERATION,
                  fmt::format("the IR has a {}{}, which OpenVINO does not interrupt: a guest's model may not have it; "
                              "the host can offer the model by name",
                              type, nested ? " within a TensorIterator" : ""));
    }
  }

  void CheckConstant(const pugi::xml_node& data) const {
    const auto offset = ParseNumber(data.attribute("offset").value());
    const auto size = ParseNumber(data.attribute("size").value());
    if (!offset || !size) throw Error(WASINN_INVALID_ENCODING, "the IR has a constant without offset and size");
    if (*offset <= limits_.weights && *size <= limits_.weights - *offset) return;
    throw Error(WASINN_INVALID_ENCODING, fmt::format("the IR has a constant of {} bytes from byte {} on, but {} bytes "
                                                     "of weights were given",
                                                     *size, *offset, limits_.weights));
  }

  void CheckPort(const pugi::xml_node& port) const {
    uint64_t elements = 1;
    for (const pugi::xml_node& dim : port.children("dim")) {
      const auto value = NumberAtStart(dim.child_value());
      if (!value) continue;  // -1 and the like are not known before a compute
      elements = backend::MulSat(elements, *value);
      if (elements <= limits_.max_bytes) continue;
      throw Error(WASINN_TOO_LARGE, fmt::format("the IR declares a tensor of {} elements or more: no more than {} "
                                                "bytes are allowed",
                                                elements, limits_.max_bytes));
    }
  }

  const pugi::xml_document document_;
  const IrLimits limits_;
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
  pugi::xml_document document;
  if (!document.load_buffer(xml.data(), xml.size())) return 0;
  std::map<std::string_view, uint64_t> variables;  // several nodes may read one
  Walk(document, [&](const pugi::xml_node& node, size_t /*depth*/) {
    const pugi::xml_attribute id = node.attribute("variable_id"), shape = node.attribute("variable_shape"),
                              type = node.attribute("variable_type");
    if (std::string_view(node.name()) != "data" || !id || !shape || !type) return;
    uint64_t& bytes = variables[id.value()];
    bytes = std::max(bytes, BytesOfVariable(shape.value(), type.value()));
  });
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
