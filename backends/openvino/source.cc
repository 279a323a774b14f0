#include "openvino/source.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <pugixml.hpp>
#include <utility>

#include "common/dtype.h"
#include "common/throw.h"

#ifdef WASINN_OPENVINO_SCANS_ONNX
#include "onnx/model_scan.h"
#endif

namespace wasinn::openvino {

using backend::Error;
using backend::Throw;

namespace {

namespace fs = std::filesystem;

// The facts in an IR, read like OpenVINO's reader: in each encoding of XML, and with characters by their numbers.
struct IrScan {
  bool is_whole = false;       // false: the XML is broken before its end, and the rest may be missing here
  uint64_t version = 0;        // of the format; 0: none
  bool names_weights = false;  // names a weights file: OpenVINO keeps the path, and its devices read it
  bool may_loop = false;       // as often as the data says
  bool has_state = false;
  // The bytes of its states (variables) in a request, if their shape is fixed: OpenVINO's C API does not report them. A
  // request has two buffers of each: an inference reads one and writes the other. UINT64_MAX: too many to count.
  uint64_t state_bytes = 0;
};

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

// "1,4", "1..8,4": the largest number. 0 if a part is open, as in "?,4", "1..,4" and "...".
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

// Scans its text.
class IrScanner {
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
    scan_.names_weights = scan_.names_weights || text.contains("weights_path");
    scan_.may_loop = scan_.may_loop || text.contains("Loop");
    scan_.has_state = scan_.has_state || text.contains("ReadValue");
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

// So that it cannot be anything but an IR.
bool LooksLikeXml(std::string_view bytes) {
  constexpr std::string_view kUtf8Mark = "\xef\xbb\xbf";
  if (bytes.starts_with(kUtf8Mark)) bytes.remove_prefix(kUtf8Mark.size());
  const size_t start = bytes.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos && bytes[start] == '<';
}

std::string_view TextOf(const wasinn_builder& builder) {
  return {reinterpret_cast<const char*>(builder.data), builder.size};
}

// NAME.bin next to NAME.xml, read completely; no bytes if there is no such file, because a model may have no weights.
backend::KeptBytes ReadWeightsBeside(const char* path) {
  const fs::path file = fs::path(path).replace_extension(".bin");
  std::error_code failed;
  const uintmax_t size = fs::file_size(file, failed);
  if (failed == std::errc::no_such_file_or_directory) return {};
  std::ifstream stream(file, std::ios::binary);
  if (failed || !stream) Throw(WASINN_ERROR_RUNTIME, "cannot read the weights in '{}'", file.string());
  backend::AlignedBuffer buffer(size);
  stream.read(static_cast<char*>(buffer.data()), static_cast<std::streamsize>(size));
  if (!stream) Throw(WASINN_ERROR_RUNTIME, "cannot read '{}' whole", file.string());
  return {std::move(buffer), size};
}

class SourceReader {
 public:
  SourceReader(const Host& host, std::span<const wasinn_builder> builders, const wasinn_load_options& options)
      : host_(host), builders_(builders), first_(builders.front()), options_(options) {}

  SourceModel Read() {
    const bool xml = LooksLikeXml(TextOf(first_));
    const std::string_view format = options_.format;
    if (format == "openvino") {
      if (xml) return ReadIr();
      if (first_.path == nullptr) return ReadOnnx();
      return fs::path(first_.path).extension() == ".onnx" ? ReadOnnx() : ReadFile();
    }
    if (format == "onnx") return ReadOnnx();
    if (format == "tensorflow" || format == "tensorflowlite") return ReadFile();
    Throw(WASINN_ERROR_INVALID_ENCODING, "this backend loads OpenVINO's IR, ONNX, TensorFlow and TensorFlow Lite");
  }

 private:
  OvPtr<ov_model_t> Own(ov_model_t* model) const { return {model, host_.api().ov_model_free}; }

  void ExpectBuilders(size_t most, const char* what) const {
    if (builders_.size() <= most) return;
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "{}: found {} builders", what, builders_.size());
  }

  SourceModel ReadIr() {
    ExpectBuilders(2, "an IR is one or two builders, XML and weights");
    backend::KeptBytes weights;
    if (builders_.size() == 2) {
      if (builders_[1].size > 0) weights = backend::KeptBytes(builders_[1]);
    } else if (first_.path != nullptr) {
      weights = ReadWeightsBeside(first_.path);
    }
    const IrScan scan = IrScanner().Run(TextOf(first_));
    if (first_.path == nullptr && scan.names_weights) {
      Throw(WASINN_ERROR_SECURITY, "the IR names a file for its weights: one from bytes or in a worker must be whole");
    }
    if (first_.path == nullptr && !scan.is_whole) Throw(WASINN_ERROR_INVALID_ENCODING, "the IR is broken XML");
    SourceModel source = ReadIrOf(scan.version, std::move(weights));
    source.may_loop = scan.may_loop;
    source.has_state = scan.has_state;
    source.state_bytes = scan.state_bytes;
    return source;
  }

  // OpenVINO only reports that it does not read the file, but not the file's version.
  SourceModel ReadIrOf(uint64_t version, backend::KeptBytes weights) const {
    constexpr uint64_t kNewest = 11;
    try {
      return ReadMemory("reading the IR", std::move(weights));
    } catch (const Error& error) {
      std::string words = error.what();
      if (version <= kNewest && !words.contains("unsupported opset")) throw;
      if (version > kNewest)
        words += fmt::format(": the file has IR version {}, known are 10 and {}", version, kNewest);
      throw Error(error.code(), backend::TooNew(std::move(words), "OpenVINO", host_.library().version(),
                                                "convert the model again with an older OpenVINO"));
    }
  }

  SourceModel ReadOnnx() {
    ExpectBuilders(1, "an ONNX model is one builder, and an IR is XML first");
#ifdef WASINN_OPENVINO_SCANS_ONNX
    const onnx::Trust trust = first_.path == nullptr ? onnx::Trust::kGuest : onnx::Trust::kHost;
    onnx::ModelScan scan;
    try {
      scan = onnx::ScanModel({first_.data, first_.size}, trust);
    } catch (const Error& error) {
      // The sender may have meant another encoding.
      if (error.code() != WASINN_ERROR_INVALID_ENCODING || std::string_view(options_.format) == "onnx") throw;
      Throw(WASINN_ERROR_INVALID_ENCODING, "neither an IR, which is XML, nor an ONNX model: {}", error.what());
    }
    if (scan.external_files.empty()) return ReadMemory("reading the ONNX model", {});
#else
    if (first_.path == nullptr) {
      Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
            "this build of the backend cannot tell whether an ONNX model names files, as a guest's may not "
            "(WASINN_BACKEND_ONNX is off)");
    }
#endif
    return ReadFile();
  }

  SourceModel ReadMemory(const char* doing, backend::KeptBytes weights) const {
    const OvApi& api = host_.api();
    OvPtr<ov_tensor_t> tensor(nullptr, api.ov_tensor_free);
    if (const std::span<const uint8_t> bytes = weights.get(); !bytes.empty()) {
      auto size = static_cast<int64_t>(bytes.size());
      ov_tensor_t* raw = nullptr;
      host_.library().Check(
          api.ov_tensor_create_from_host_ptr(U8, {.rank = 1, .dims = &size}, const_cast<uint8_t*>(bytes.data()), &raw),
          "the weights");
      tensor.reset(raw);
    }
    ov_model_t* model = nullptr;
    const std::string_view text = TextOf(first_);
    host_.library().Check(
        api.ov_core_read_model_from_memory_buffer(host_.core(), text.data(), text.size(), tensor.get(), &model), doing,
        WASINN_ERROR_INVALID_ENCODING);
    return {.model = Own(model),
            .may_loop = text.contains("Loop"),
            .has_state = text.contains("ReadValue"),
            .weights = std::move(weights)};
  }

  SourceModel ReadFile() const {
    ExpectBuilders(1, "a model in a file is one builder");
    if (first_.path == nullptr) {
      Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
            "OpenVINO reads models of TensorFlow and TensorFlow Lite from files only: the host can offer it by name");
    }
    fs::path path = first_.path;
    if (path.filename() == "saved_model.pb") path = path.parent_path();
    ov_model_t* model = nullptr;
    host_.library().Check(host_.api().ov_core_read_model(host_.core(), path.c_str(), nullptr, &model),
                          fmt::format("reading '{}'", path.string()).c_str(), WASINN_ERROR_INVALID_ENCODING);
    return {.model = Own(model), .weights = {}};
  }

  const Host& host_;
  const std::span<const wasinn_builder> builders_;
  const wasinn_builder& first_;
  const wasinn_load_options& options_;
};

}  // namespace

SourceModel ReadSource(const Host& host, std::span<const wasinn_builder> builders, const wasinn_load_options& options) {
  if (builders.empty() || builders.front().size == 0) Throw(WASINN_ERROR_INVALID_ENCODING, "the model has no bytes");
  return SourceReader(host, builders, options).Read();
}

}  // namespace wasinn::openvino
