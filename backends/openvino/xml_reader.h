// Reads the tags of an XML document.
#ifndef WASINN_BACKENDS_OPENVINO_XML_READER_H_
#define WASINN_BACKENDS_OPENVINO_XML_READER_H_

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace wasinn::openvino {

// A tag: <name key="value">, </name> or <name/>. Views of the document, entities as they stand there.
struct XmlTag {
  std::string_view name;
  std::vector<std::pair<std::string_view, std::string_view>> attributes;
  bool opens = false;   // <name> and <name/>
  bool closes = false;  // </name> and <name/>

  // Of two with the same key, the first; nothing where there is none.
  std::optional<std::string_view> Find(std::string_view key) const;
};

// Stricter than the parser that comes after it, so that both see the same: no document type, no bytes of value 0 (and
// with them no UTF-16), quoted values without '<', tags closed in their order. Throws WASINN_INVALID_ENCODING.
class XmlReader {
 public:
  // Deeper documents are refused.
  static constexpr size_t kMostDepth = 256;

  explicit XmlReader(std::string_view document);

  // The next tag, valid until the one after it; NULL at the end of a document whose tags are all closed.
  const XmlTag* Next();
  // The open elements, the outermost first, with the one that the last tag opened or closed.
  const std::vector<std::string_view>& path() const { return path_; }
  // What comes behind the last tag.
  std::string_view rest() const { return text_.substr(at_); }

 private:
  [[noreturn]] void Refuse(const char* what) const;
  bool Skips(std::string_view prefix) { return text_.substr(at_).starts_with(prefix); }
  void SkipPast(std::string_view end);
  void SkipSpace();
  std::string_view ReadName();
  void ReadAttributes();

  std::string_view text_;
  size_t at_ = 0;
  XmlTag tag_;
  std::vector<std::string_view> path_;
  bool leave_ = false;  // the last tag closed the innermost element
};

}  // namespace wasinn::openvino

#endif  // WASINN_BACKENDS_OPENVINO_XML_READER_H_
