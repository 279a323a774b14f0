// Writes TensorFlow Lite's models: FlatBuffers, by hand.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace wasinn::test {

// A table, or a vector, of a FlatBuffer.
class Flat {
 public:
  using Ref = std::shared_ptr<Flat>;

  static Ref Table() { return std::make_shared<Flat>(); }
  template <typename Number>
  static Ref Vector(const std::vector<Number>& values, size_t align = sizeof(Number)) {
    return Bytes(std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Number)),
                 sizeof(Number), align);
  }
  static Ref Bytes(const std::string& bytes, size_t element = 1, size_t align = 16) {
    auto flat = std::make_shared<Flat>();
    flat->kind_ = kVector;
    flat->bytes_ = bytes;
    flat->count_ = static_cast<uint32_t>(bytes.size() / element);
    flat->align_ = align;
    return flat;
  }
  static Ref Text(const std::string& text) {
    Ref flat = Bytes(text + '\0', 1, 4);
    flat->count_ = static_cast<uint32_t>(text.size());
    return flat;
  }
  static Ref Tables(const std::vector<Ref>& tables) {
    auto flat = std::make_shared<Flat>();
    flat->kind_ = kReferences;
    flat->references_ = tables;
    return flat;
  }

  template <typename Number>
  void Set(int field, Number value) {
    numbers_[field] = std::string(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void Set(int field, Ref child) { children_[field] = std::move(child); }

  static std::string WriteFile(const Ref& root, const std::string& identifier) {
    std::string out(8, '\0');
    std::memcpy(out.data() + 4, identifier.data(), 4);
    const size_t position = root->Write(&out);
    Patch(&out, 0, position);
    return out;
  }

 private:
  enum Kind { kTable, kVector, kReferences };

  static void Align(std::string* out, size_t align, size_t ahead = 0) {
    while ((out->size() + ahead) % align != 0) out->push_back('\0');
  }
  static void Put16(std::string* out, size_t value) {
    const auto number = static_cast<uint16_t>(value);
    out->append(reinterpret_cast<const char*>(&number), 2);
  }
  static void Put32(std::string* out, uint32_t number) { out->append(reinterpret_cast<const char*>(&number), 4); }
  static void Patch(std::string* out, size_t at, size_t target) {
    const auto offset = static_cast<uint32_t>(target - at);
    std::memcpy(out->data() + at, &offset, 4);
  }

  size_t Write(std::string* out) const {
    if (kind_ == kTable) return WriteTable(out);
    Align(out, std::max<size_t>(align_, 4), 4);
    const size_t position = out->size();
    if (kind_ == kVector) {
      Put32(out, count_);
      *out += bytes_;
      return position;
    }
    Put32(out, static_cast<uint32_t>(references_.size()));
    out->append(4 * references_.size(), '\0');
    for (size_t i = 0; i < references_.size(); ++i) Patch(out, position + 4 + 4 * i, references_[i]->Write(out));
    return position;
  }

  size_t WriteTable(std::string* out) const {
    int fields = 0;
    for (const auto& [field, value] : numbers_) fields = std::max(fields, field + 1);
    for (const auto& [field, value] : children_) fields = std::max(fields, field + 1);
    std::vector<size_t> offsets(static_cast<size_t>(fields));
    size_t end = 4;
    const auto place = [&](int field, size_t size) {
      end = (end + size - 1) / size * size;
      offsets[static_cast<size_t>(field)] = end;
      end += size;
    };
    for (const auto& [field, value] : numbers_) place(field, value.size());
    for (const auto& [field, value] : children_) place(field, 4);
    Align(out, 2);
    const size_t vtable = out->size();
    Put16(out, 4 + 2 * offsets.size());
    Put16(out, end);
    for (const size_t offset : offsets) Put16(out, offset);
    Align(out, 8);
    const size_t table = out->size();
    out->append(end, '\0');
    Patch(out, table, table + (table - vtable));  // this offset is counted backwards
    for (const auto& [field, value] : numbers_) {
      std::memcpy(out->data() + table + offsets[static_cast<size_t>(field)], value.data(), value.size());
    }
    for (const auto& [field, child] : children_) {
      Patch(out, table + offsets[static_cast<size_t>(field)], child->Write(out));
    }
    return table;
  }

  Kind kind_ = kTable;
  std::map<int, std::string> numbers_;
  std::map<int, Ref> children_;
  std::string bytes_;
  uint32_t count_ = 0;
  size_t align_ = 4;
  std::vector<Ref> references_;
};

// Numbers of TensorFlow Lite's schema.
enum : int32_t {
  kOpAdd = 0,
  kOpMul = 18,
  kOpConv = 3,
  kOpCustom = 32,
  kOpReshape = 22,
  kOpFill = 94,
  kOpWhile = 119,
  kOpEqual = 71,
  kOpFullyConnected = 9,
  kOpAssignVariable = 144,
  kOpShape = 77,
  kOpWhere = 109
};
enum : uint8_t {
  kNoOptions = 0,
  kConvOptions = 1,
  kFullyConnectedOptions = 8,
  kAddOptions = 11,
  kMulOptions = 21,
  kReshapeOptions = 17,
  kWhileOptions = 93
};
enum : int8_t {
  kTfFloat = 0,
  kTfHalf = 1,
  kTfInt32 = 2,
  kTfUint8 = 3,
  kTfInt64 = 4,
  kTfString = 5,
  kTfBool = 6,
  kTfInt16 = 7,
  kTfComplex64 = 8,
  kTfInt8 = 9,
  kTfDouble = 10,
  kTfUint64 = 12,
  kTfUint32 = 15,
  kTfUint16 = 16,
  kTfBfloat16 = 18
};

struct TfTensor {
  std::string name;
  int8_t type = kTfFloat;
  std::vector<int32_t> shape;
  std::string data;                // of a constant
  std::vector<int32_t> signature;  // with -1 for what may change
  bool variable = false;
};

struct TfOperator {
  int32_t code = 0;
  std::vector<int32_t> inputs, outputs;
  uint8_t options_type = kNoOptions;
  std::vector<int32_t> options;  // its fields, all int32 here
  std::string custom;            // the name of a custom operator
  int32_t version = 1;
  std::string custom_options;
};

struct TfLiteGraph {
  std::vector<TfTensor> tensors;
  std::vector<int32_t> inputs, outputs;
  std::vector<TfOperator> operators;
};

template <typename Number>
std::string DataOf(const std::vector<Number>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Number)};
}

// `keys`: of a signature for each graph, which calls the first input `x` and the first output `result`.
inline std::string WriteTfLite(const std::vector<TfLiteGraph>& graphs, const std::vector<std::string>& keys = {},
                               uint32_t version = 3) {
  std::vector<Flat::Ref> codes, buffers, subgraphs;
  buffers.push_back(Flat::Table());  // the first is the empty one
  for (const TfLiteGraph& graph : graphs) {
    std::vector<Flat::Ref> tensors, operators;
    for (const TfTensor& tensor : graph.tensors) {
      auto table = Flat::Table();
      table->Set(0, Flat::Vector(tensor.shape, 4));
      table->Set(1, tensor.type);
      table->Set(2, uint32_t{0});
      if (!tensor.data.empty()) {
        table->Set(2, static_cast<uint32_t>(buffers.size()));
        buffers.push_back(Flat::Table());
        buffers.back()->Set(0, Flat::Bytes(tensor.data));
      }
      table->Set(3, Flat::Text(tensor.name));
      table->Set(5, static_cast<uint8_t>(tensor.variable));
      if (!tensor.signature.empty()) table->Set(7, Flat::Vector(tensor.signature, 4));
      table->Set(8, uint8_t{1});
      tensors.push_back(table);
    }
    for (const TfOperator& op : graph.operators) {
      auto code = Flat::Table();
      code->Set(0, static_cast<int8_t>(std::min(op.code, 127)));
      if (!op.custom.empty()) code->Set(1, Flat::Text(op.custom));
      code->Set(2, op.version);
      code->Set(3, op.code);
      auto table = Flat::Table();
      table->Set(0, static_cast<uint32_t>(codes.size()));
      codes.push_back(code);
      table->Set(1, Flat::Vector(op.inputs, 4));
      table->Set(2, Flat::Vector(op.outputs, 4));
      if (op.options_type != kNoOptions) {
        auto options = Flat::Table();
        for (size_t i = 0; i < op.options.size(); ++i) options->Set(static_cast<int>(i), op.options[i]);
        table->Set(3, op.options_type);
        table->Set(4, options);
      }
      if (!op.custom_options.empty()) table->Set(5, Flat::Bytes(op.custom_options, 1, 4));
      operators.push_back(table);
    }
    auto table = Flat::Table();
    table->Set(0, Flat::Tables(tensors));
    table->Set(1, Flat::Vector(graph.inputs, 4));
    table->Set(2, Flat::Vector(graph.outputs, 4));
    table->Set(3, Flat::Tables(operators));
    table->Set(4, Flat::Text("main"));
    subgraphs.push_back(table);
  }
  auto model = Flat::Table();
  model->Set(0, version);
  model->Set(1, Flat::Tables(codes));
  model->Set(2, Flat::Tables(subgraphs));
  model->Set(3, Flat::Text("test"));
  model->Set(4, Flat::Tables(buffers));
  std::vector<Flat::Ref> signatures;
  for (size_t i = 0; i < keys.size(); ++i) {
    auto input = Flat::Table(), output = Flat::Table(), signature = Flat::Table();
    input->Set(0, Flat::Text("x"));
    input->Set(1, static_cast<uint32_t>(graphs[i].inputs.at(0)));
    output->Set(0, Flat::Text("result"));
    output->Set(1, static_cast<uint32_t>(graphs[i].outputs.at(0)));
    signature->Set(0, Flat::Tables({input}));
    signature->Set(1, Flat::Tables({output}));
    signature->Set(2, Flat::Text(keys[i]));
    signature->Set(4, static_cast<uint32_t>(i));
    signatures.push_back(signature);
  }
  if (!keys.empty()) model->Set(7, Flat::Tables(signatures));
  return Flat::WriteFile(model, "TFL3");
}

// A loop, and graphs for it: a condition that always holds, and a step.
inline TfLiteGraph Loop(int32_t cond, int32_t body) {
  return {
      .tensors = {{.name = "x", .shape = {1}}, {.name = "y", .shape = {1}}},
      .inputs = {0},
      .outputs = {1},
      .operators = {
          {.code = kOpWhile, .inputs = {0}, .outputs = {1}, .options_type = kWhileOptions, .options = {cond, body}}}};
}

inline const TfLiteGraph kAlways = {
    .tensors = {{.name = "v", .shape = {1}}, {.name = "go", .type = kTfBool, .shape = {1}}},
    .inputs = {0},
    .outputs = {1},
    .operators = {{.code = kOpEqual, .inputs = {0, 0}, .outputs = {1}}}};
inline const TfLiteGraph kGoOn = {
    .tensors = {{.name = "v", .shape = {1}}, {.name = "w", .shape = {1}}},
    .inputs = {0},
    .outputs = {1},
    .operators = {{.code = kOpAdd, .inputs = {0, 0}, .outputs = {1}, .options_type = kAddOptions}}};

}  // namespace wasinn::test
