#include "onnx/model_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "common/error.h"
#include "common/proto_reader.h"
#include "common/saturating.h"
#include "onnx/field_rules.h"
#include "onnx/function_calls.h"

namespace wasinn::onnx {

using backend::Error;
using backend::ProtoField;
using backend::ProtoReader;

namespace {

// What is known of a message when it has been read.
struct Summary {
  std::string_view name;                          // op_type, name, key
  std::string_view domain;                        // of a node or a function
  uint64_t number = 0;                            // elements of a sparse tensor, bytes of an attribute's string
  bool has_graph = false;                         // model
  bool has_shape = false;                         // value info, type, tensor type
  std::vector<std::string_view> inputs, outputs;  // graph
};

// ONNX's own has two names.
std::string_view OnnxDomain(std::string_view domain) { return domain == "ai.onnx" ? "" : domain; }

// The standard's. Operators of any other domain that ONNX Runtime has are its own ("contrib"), and not made for models
// of an attacker: some read outside of their inputs.
bool IsStandardDomain(std::string_view domain) { return OnnxDomain(domain).empty() || domain == "ai.onnx.ml"; }

// Where ONNX Runtime has operators of its own, or may come to have some: there, its operator is computed and not the
// model's function of the same name.
bool IsReservedDomain(std::string_view domain) {
  constexpr std::string_view kReserved[] = {"ai.onnx", "com.microsoft", "com.ms", "org.pytorch"};
  return std::ranges::any_of(kReserved, [domain](std::string_view name) {
    return domain.starts_with(name) && (domain.size() == name.size() || domain[name.size()] == '.');
  });
}

// The product of dims, which lie in a field one by one or together; UINT64_MAX where it is too much.
uint64_t Multiply(uint64_t product, const ProtoField& field) {
  const auto by = [&product](uint64_t dim) { product = backend::MulSat(product, dim); };
  if (field.type == ProtoField::Type::kVarint) by(field.value);
  ProtoReader packed(field.bytes);
  for (uint64_t dim = 0; packed.NextPacked(&dim);) by(dim);
  return product;
}

// Numbers, which lie in a field one by one or together: each ends with a byte below 128.
uint64_t CountNumbers(const ProtoField& field) {
  if (field.type != ProtoField::Type::kBytes) return 1;
  return static_cast<uint64_t>(std::ranges::count_if(field.bytes, [](uint8_t byte) { return byte < 0x80; }));
}

// ONNX Runtime's strings are in no allocator's memory, so nothing counts them: an element counts as the object alone.
// Operators may make many of one, so it is short in a guest's model, and none can be made longer.
constexpr uint64_t kLongestString = 64;

bool IsElement(std::string_view attribute) { return attribute == "value_string" || attribute == "default_string"; }

size_t CountFields(std::span<const uint8_t> bytes) {
  size_t n = 0;
  ProtoReader reader(bytes);
  for (ProtoField field; reader.Next(&field);) ++n;
  return n;
}

class Scanner {
 public:
  Scanner(Trust trust, uint64_t max_parsed_bytes)
      : guest_(trust == Trust::kGuest), max_parsed_bytes_(max_parsed_bytes) {}

  ModelScan Scan(std::span<const uint8_t> bytes) {
    const Summary model = Read(Message::kModel, bytes, 0);
    if (!model.has_graph) Broken("there is no graph in it");
    scan_.nodes = main_.nodes;
    scan_.parsed_bytes = parsed_bytes_;
    if (guest_) {
      CheckDomains();
      const FunctionCalls::Body inlined = functions_.Inline(main_);
      scan_.nodes += inlined.nodes;
      scan_.more_bytes = backend::AddSat(main_.bytes, inlined.bytes);
    }
    return std::move(scan_);
  }

 private:
  // Protocol Buffers go no deeper either.
  static constexpr int kMostDepth = 100;

  [[noreturn]] static void Broken(const char* what) {
    throw Error(WASINN_INVALID_ENCODING, fmt::format("the bytes are no ONNX model: {}", what));
  }

  Summary Read(Message kind, std::span<const uint8_t> bytes, int depth);
  void ReadField(const FieldRule& rule, const ProtoField& field, Summary* summary, int depth);
  void Adopt(const FieldRule& rule, Summary child, Summary* parent, int depth);
  void ReadFunction(std::span<const uint8_t> bytes, int depth);
  void CheckNode(const Summary& node);
  void CheckString(uint64_t bytes) const;
  void CheckDomains() const;
  void AddParsed(uint64_t bytes);
  void AddMore(uint64_t elements, uint64_t element_bytes);
  void CheckSubgraph(Summary graph) const;
  void RefuseExternalData() const;
  void NoteExternalFile(const ProtoField& entry);

  const bool guest_;
  const uint64_t max_parsed_bytes_;
  uint64_t parsed_bytes_ = 0;
  ModelScan scan_;
  FunctionCalls functions_;
  FunctionCalls::Body main_;
  FunctionCalls::Body* body_ = &main_;    // that nodes are in now
  std::set<FunctionCalls::Key> foreign_;  // what nodes are, beside the standard's operators
};

Summary Scanner::Read(Message kind, std::span<const uint8_t> bytes, int depth) {
  if (depth > kMostDepth) Broken("its messages are nested too deeply");
  Summary summary;
  if (kind == Message::kSparseTensor) summary.number = 1;
  uint64_t seen = 0;
  ProtoReader reader(bytes);
  for (ProtoField field; reader.Next(&field);) {
    const FieldRule* rule = FindRule(kind, field.number);
    if (field.type == ProtoField::Type::kBytes) AddParsed(ParsedBytes(rule));
    if (rule == nullptr) continue;
    // Protocol Buffers merge a message that comes twice, and let the last of two values win. No writer makes such a
    // thing; from a guest it could only serve to show us another model than ONNX Runtime sees.
    const uint64_t bit = uint64_t{1} << rule->number;
    if (guest_ && !rule->repeated && (seen & bit) != 0) Broken("a field that may stand once stands twice");
    seen |= bit;
    ReadField(*rule, field, &summary, depth);
  }
  if (reader.broken()) Broken("a field is cut off, or of an unknown kind");
  if (kind == Message::kNode) CheckNode(summary);
  if (kind == Message::kSparseTensor) AddMore(summary.number, sizeof(double));  // it becomes dense
  if (kind == Message::kAttribute && IsElement(summary.name)) CheckString(summary.number);
  return summary;
}

void Scanner::ReadField(const FieldRule& rule, const ProtoField& field, Summary* summary, int depth) {
  const auto wanted = rule.content == Content::kNumber ? ProtoField::Type::kVarint : ProtoField::Type::kBytes;
  const bool any =
      rule.content == Content::kAnything || rule.content == Content::kNumbers || rule.content == Content::kElements;
  if (field.type != wanted && !any) {
    if (guest_) Broken("a field is of another kind than ONNX defines");
    return;  // Protocol Buffers skip it
  }
  switch (rule.content) {
    case Content::kMessage:
      if (rule.message == Message::kFunction) {
        ReadFunction(field.bytes, depth + 1);
      } else {
        Adopt(rule, Read(rule.message, field.bytes, depth + 1), summary, depth);
      }
      break;
    case Content::kText:
      (IsDomain(rule) ? summary->domain : summary->name) = field.text();
      break;
    case Content::kNumbers:
      summary->number = Multiply(summary->number, field);
      break;
    case Content::kElements:
      AddMore(CountNumbers(field), rule.in == Message::kTensor && rule.number == 5 ? sizeof(int32_t) : sizeof(int64_t));
      break;
    case Content::kString:
      if (rule.repeated) {
        CheckString(field.bytes.size());
      } else {
        summary->number = field.bytes.size();
      }
      break;
    case Content::kNumber:
      summary->number = field.value;
      if (rule.in == Message::kTensor && field.value != 0) RefuseExternalData();
      break;
    case Content::kAnything:
      if (rule.in == Message::kTensor) {
        RefuseExternalData();
        NoteExternalFile(field);
      } else {
        AddParsed(kBytesOfField * CountFields(field.bytes));  // the dims of a shape
      }
      summary->has_shape = true;
      break;
  }
}

// What a message tells the one that it is in.
void Scanner::Adopt(const FieldRule& rule, Summary child, Summary* parent, int depth) {
  switch (rule.message) {
    case Message::kGraph:
      if (rule.in == Message::kModel) parent->has_graph = true;
      if (rule.in == Message::kAttribute) CheckSubgraph(std::move(child));
      break;
    case Message::kValueInfo:
      (rule.number == 11 ? parent->inputs : parent->outputs).push_back(child.name);
      if (depth == 1 && child.has_shape) scan_.ranked.emplace_back(child.name);
      break;
    case Message::kType:
    case Message::kTensorType:
      parent->has_shape = child.has_shape;
      break;
    case Message::kEntry:
      // If the host's environment says so, ONNX Runtime takes session options from here, among them files to write.
      if (guest_ && child.name == "ort_config") {
        throw Error(WASINN_SECURITY,
                    "the model's metadata hold session options (ort_config), which only a host may set");
      }
      break;
    default:
      break;
  }
}

void Scanner::ReadFunction(std::span<const uint8_t> bytes, int depth) {
  FunctionCalls::Body body;
  body_ = &body;
  const Summary function = Read(Message::kFunction, bytes, depth);
  body_ = &main_;
  body.bytes = backend::AddSat(body.bytes, bytes.size());
  functions_.Add({OnnxDomain(function.domain), function.name}, std::move(body));
}

void Scanner::CheckNode(const Summary& node) {
  ++body_->nodes;
  if (guest_) body_->calls.emplace_back(OnnxDomain(node.domain), node.name);
  if (guest_ && !IsStandardDomain(node.domain)) foreign_.emplace(node.domain, node.name);
  if (guest_ && OnnxDomain(node.domain).empty() && node.name == "StringConcat") {
    throw Error(WASINN_SECURITY,
                "the model uses the operator StringConcat, which makes strings of any length: a model that is given as "
                "bytes may not; the host can register it by name");
  }
}

void Scanner::CheckString(uint64_t bytes) const {
  if (!guest_ || bytes <= kLongestString) return;
  throw Error(WASINN_TOO_LARGE,
              fmt::format("the model has a string of {} bytes: expected at most {} in a model that is "
                          "given as bytes; the host can register it by name",
                          bytes, kLongestString));
}

// Functions may stand behind their calls, so this comes last.
void Scanner::CheckDomains() const {
  for (const auto& [domain, name] : foreign_) {
    if (!IsReservedDomain(domain) && functions_.Has({domain, name})) continue;
    throw Error(WASINN_SECURITY,
                fmt::format("the model uses the operator {}.{}: a model that is given as bytes may use operators of "
                            "ai.onnx and ai.onnx.ml and functions of its own; the host can register others by name",
                            domain, name));
  }
}

void Scanner::AddParsed(uint64_t bytes) {
  parsed_bytes_ += bytes;  // a small multiple of the file's size, which is less than 2 GiB
  if (parsed_bytes_ <= max_parsed_bytes_) return;
  throw Error(
      WASINN_TOO_LARGE,
      fmt::format("the model's nodes, values and strings take more than the {} bytes that are allowed once they are "
                  "parsed",
                  max_parsed_bytes_));
}

// What parsing makes of it beyond its own bytes.
void Scanner::AddMore(uint64_t elements, uint64_t element_bytes) {
  body_->bytes = backend::AddSat(body_->bytes, backend::MulSat(elements, element_bytes));
}

// ONNX Runtime looks whether it was cancelled before each node. If all that a loop does is to hand its inputs on, no
// node is left after optimization, and INT64_MAX rounds of it occupy a thread of the host for ever.
void Scanner::CheckSubgraph(Summary graph) const {
  if (!guest_ || graph.outputs.empty()) return;
  std::ranges::sort(graph.inputs);
  const auto is_input = [&graph](std::string_view output) { return std::ranges::binary_search(graph.inputs, output); };
  if (std::ranges::all_of(graph.outputs, is_input)) {
    throw Error(WASINN_UNSUPPORTED_OPERATION,
                "the model holds a loop whose outputs are its inputs: ONNX Runtime could never be stopped in it");
  }
}

void Scanner::RefuseExternalData() const {
  if (!guest_) return;
  throw Error(
      WASINN_SECURITY,
      "a tensor of the model is stored outside of it (external data): a model that is given as bytes must be whole");
}

// An entry of external_data is a key and a value; the file's name is the one of "location".
void Scanner::NoteExternalFile(const ProtoField& entry) {
  std::string_view key, value;
  ProtoReader reader(entry.bytes);
  for (ProtoField field; reader.Next(&field);) {
    if (field.number == 1) key = field.text();
    if (field.number == 2) value = field.text();
  }
  if (key == "location") scan_.external_files.emplace(value);
}

}  // namespace

ModelScan ScanModel(std::span<const uint8_t> bytes, Trust trust, uint64_t max_parsed_bytes) {
  if (bytes.empty()) throw Error(WASINN_INVALID_ENCODING, "the bytes are no ONNX model: there are none");
  // The size of a message is an int.
  if (bytes.size() > INT32_MAX) {
    throw Error(
        WASINN_INVALID_ENCODING,
        fmt::format("the bytes are no ONNX model: expected less than 2 GiB, found {} bytes (weights can be stored in "
                    "other files)",
                    bytes.size()));
  }
  if (IsOrtFormat(bytes)) {
    // FlatBuffers are read in place, and ONNX Runtime takes them to be good.
    if (trust == Trust::kGuest) {
      throw Error(WASINN_UNSUPPORTED_OPERATION,
                  "the model is in ONNX Runtime's own format (.ort), which is not checked when it is read: guests may "
                  "bring models "
                  "in the format of ONNX (.onnx); the host can register this one by name");
    }
    return {};
  }
  return Scanner(trust, max_parsed_bytes).Scan(bytes);
}

bool IsOrtFormat(std::span<const uint8_t> bytes) {
  constexpr std::string_view kIdentifier = "ORTM";
  constexpr size_t kOffset = 4;
  return bytes.size() >= kOffset + kIdentifier.size() &&
         std::equal(kIdentifier.begin(), kIdentifier.end(), bytes.begin() + kOffset);
}

}  // namespace wasinn::onnx
