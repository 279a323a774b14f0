#include "openvino/ir.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <pugixml.hpp>

#include "common/saturating.h"

namespace wasinn::openvino {

namespace {

std::optional<uint64_t> ParseNumber(std::string_view text) {
  uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// Calls `visit` for each element, the outer ones first. It does not recurse.
template <typename Visit>
void Walk(const pugi::xml_node& root, const Visit& visit) {
  for (pugi::xml_node node = root.first_child(); node;) {
    if (node.type() == pugi::node_element) visit(node);
    if (node.first_child()) {
      node = node.first_child();
      continue;
    }
    while (node != root && !node.next_sibling()) node = node.parent();
    if (node == root) return;
    node = node.next_sibling();
  }
}

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

bool Has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

class Scanner {
 public:
  IrScan Run(std::string_view xml) {
    pugi::xml_document document;
    scan_.is_whole = static_cast<bool>(document.load_buffer(xml.data(), xml.size()));
    Walk(document, [this](const pugi::xml_node& node) {
      Note(node.name());
      if (std::string_view(node.name()) == "net") scan_.version = node.attribute("version").as_ullong();
      for (const pugi::xml_attribute& attribute : node.attributes()) {
        Note(attribute.name());
        Note(attribute.value());
      }
      if (std::string_view(node.name()) == "data") AddVariable(node);
    });
    constexpr uint64_t kBuffers = 2;
    for (const auto& [id, bytes] : variables_) scan_.state_bytes = backend::AddSat(scan_.state_bytes, bytes);
    scan_.state_bytes = backend::MulSat(scan_.state_bytes, kBuffers);
    return scan_;
  }

 private:
  void Note(std::string_view text) {
    scan_.names_weights = scan_.names_weights || Has(text, "weights_path");
    scan_.may_loop = scan_.may_loop || Has(text, "Loop");
    scan_.has_state = scan_.has_state || Has(text, "ReadValue");
  }

  void AddVariable(const pugi::xml_node& data) {
    const pugi::xml_attribute id = data.attribute("variable_id"), shape = data.attribute("variable_shape"),
                              type = data.attribute("variable_type");
    if (!id || !shape || !type) return;
    uint64_t& bytes = variables_[id.value()];
    bytes = std::max(bytes, BytesOfVariable(shape.value(), type.value()));
  }

  IrScan scan_;
  std::map<std::string_view, uint64_t> variables_;  // several nodes may read one
};

}  // namespace

IrScan ScanIr(std::string_view xml) { return Scanner().Run(xml); }

bool LooksLikeXml(std::string_view bytes) {
  constexpr std::string_view kUtf8Mark = "\xef\xbb\xbf";
  if (bytes.starts_with(kUtf8Mark)) bytes.remove_prefix(kUtf8Mark.size());
  const size_t start = bytes.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos && bytes[start] == '<';
}

}  // namespace wasinn::openvino
