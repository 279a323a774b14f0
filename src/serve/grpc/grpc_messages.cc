#include "serve/grpc/grpc_messages.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/common.h>
#include <google/protobuf/wire_format_lite.h>
#include <inference.pb.h>

#include <algorithm>
#include <climits>
#include <concepts>
#include <memory>
#include <utility>
#include <vector>

#include "base/proto_reader.h"
#include "oip/contents.h"
#include "serve/log.h"

namespace wasinn::serve {

namespace {

using base::ProtoField;
using base::ProtoReader;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::ZeroCopyInputStream;
using Message = inference::ModelInferRequest;
using Input = Message::InferInputTensor;

// The limit of a requested output's description, in bytes: its name and parameters.
constexpr int kMaxOutput = 16u << 10;
// The memory for each input, in addition to its bytes.
constexpr uint64_t kInput = 256;
constexpr char kSharedMemory[] = "shared_memory_region", kClassification[] = "classification";
constexpr char kEmptyFinal[] = "triton_enable_empty_final_response";

// A map's entry; both are inside of it.
struct Parameter {
  std::string_view name;
  std::span<const uint8_t> value;

  bool IsTrue() const {
    inference::InferParameter parameter;
    return value.size() < 16 && parameter.ParseFromArray(value.data(), static_cast<int>(value.size())) &&
           parameter.bool_param();
  }
};

// The bytes of a field: in place, or a copy of several pieces.
struct FieldBytes {
  std::span<const uint8_t> lent;
  std::string own;

  std::span<const uint8_t> view() const {
    return own.empty() ? lent : std::span(reinterpret_cast<const uint8_t*>(own.data()), own.size());
  }
};

Parameter ReadParameter(std::span<const uint8_t> entry) {
  Parameter parameter;
  RequireWellFormed(base::ForEachField(ProtoReader::WithGroups(entry), [&](const ProtoField& field) {
    if (field.IsBytes(1)) parameter.name = field.text();
    if (field.IsBytes(2)) parameter.value = field.bytes;
  }));
  return parameter;
}

// Appends elements to a tensor, as many as its shape has.
class ContentsSink {
 public:
  explicit ContentsSink(InputTensor& tensor) : tensor_(tensor), elements_(CountElements(tensor)) {}

  uint64_t elements() const { return elements_; }
  bool Add(std::span<const uint8_t> bytes) {
    if ((tensor_.own.size() + bytes.size()) / tensor_.datatype->size > elements_) {
      ThrowInvalid("input '{}' has more than {} elements", tensor_.name, elements_);
    }
    tensor_.own.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return true;
  }
  [[noreturn]] bool AddWrong(auto number) const {
    ThrowInvalid("input '{}': {} is not a valid {}", tensor_.name, number, tensor_.datatype->name);
  }
  // Another type's values would be lost.
  [[noreturn]] bool AddOther() const {
    ThrowInvalid("input '{}' has contents of another type than {}", tensor_.name, tensor_.datatype->name);
  }

 private:
  InputTensor& tensor_;
  const uint64_t elements_;
};

void AddTexts(std::span<const uint8_t> contents, const ContentsSink& sink, std::string& own) {
  constexpr uint32_t kTexts = inference::InferTensorContents::kBytesContentsFieldNumber;
  RequireWellFormed(base::ForEachField(ProtoReader::WithGroups(contents), [&](const ProtoField& field) {
    if (field.IsBytes(kTexts)) return AppendElement(own, field.bytes);
    if (field.number <= kTexts) sink.AddOther();
  }));
}

// Adds elements that came as fields of a message, and not as raw bytes, to the tensor's own bytes and to `charge`.
void AddContents(std::span<const uint8_t> contents, Charge& charge, InputTensor& tensor) {
  const Datatype& datatype = *tensor.datatype;
  ContentsSink sink(tensor);
  if (datatype.size == 0) {
    // Each has at least two bytes there, and four bytes of length here.
    if (!charge.Add(3 * contents.size())) throw NoMemory();
    return AddTexts(contents, sink, tensor.own);
  }
  // Its shape may be anything: the contents limit the number of elements.
  size_t most = contents.size();
  const bool has_field = oip::WithElementType(datatype.dtype, [&]<typename T>(T /*type*/) {
    if (std::floating_point<T>) most /= sizeof(T);
  });
  if (!has_field) return;  // FP16 and BF16
  const uint64_t bytes = std::min<uint64_t>(sink.elements(), most) * datatype.size;
  if (!charge.Add(bytes)) throw NoMemory();
  tensor.own.reserve(tensor.own.size() + bytes);
  RequireWellFormed(oip::ReadContents(contents, datatype.dtype, sink));
}

[[noreturn]] void ThrowSharedMemory(const char* what, const std::string& name) {
  ThrowInvalid("{} '{}': there is no shared memory here", what, name);
}

class MessageReader {
 public:
  MessageReader(ZeroCopyInputStream& message, Charge& charge, GrpcRequest& request)
      : in_(&message), charge_(charge), request_(request) {}

  // Throws Failure.
  void Read(int size) {
    in_.PushLimit(size);
    while (const uint32_t tag = in_.ReadTag()) {
      switch (tag) {
        case BytesTag(Message::kModelNameFieldNumber):
          request_.infer.model = ReadText();
          break;
        case BytesTag(Message::kModelVersionFieldNumber):
          request_.infer.version = ReadText();
          break;
        case BytesTag(Message::kIdFieldNumber):
          request_.id = ReadText();
          break;
        case BytesTag(Message::kInputsFieldNumber):
          AddInput();
          break;
        case BytesTag(Message::kOutputsFieldNumber):
          AddOutput();
          break;
        case BytesTag(Message::kRawInputContentsFieldNumber):
          if (raw_.size() == kMaxTensors) ThrowInvalid("more than {} raw_input_contents", kMaxTensors);
          raw_.push_back(ReadField());
          break;
        case BytesTag(Message::kParametersFieldNumber):
          AddParameter();
          break;
        default:
          RequireWellFormed(google::protobuf::internal::WireFormatLite::SkipField(&in_, tag));
      }
    }
    RequireWellFormed(in_.ConsumedEntireMessage());
    TakeRaw();
  }

 private:
  FieldBytes ReadField() {
    uint32_t length = 0;
    RequireWellFormed(in_.ReadVarint32(&length) && length <= static_cast<uint32_t>(in_.BytesUntilLimit()));
    FieldBytes bytes;
    const void* here = nullptr;
    int together = 0;
    if (length == 0) return bytes;
    in_.GetDirectBufferPointer(&here, &together);
    if (length <= static_cast<uint32_t>(together)) {
      bytes.lent = {static_cast<const uint8_t*>(here), length};
      in_.Skip(static_cast<int>(length));
      return bytes;
    }
    if (!charge_.Add(length)) throw NoMemory();
    RequireWellFormed(in_.ReadString(&bytes.own, static_cast<int>(length)));
    return bytes;
  }
  std::string ReadText() {
    const FieldBytes bytes = ReadField();
    return ToText(bytes.view());
  }
  void AddInput() {
    std::vector<InputTensor>& inputs = request_.infer.inputs;
    if (inputs.size() == kMaxTensors) ThrowInvalid("more than {} inputs", kMaxTensors);
    if (!charge_.Add(kInput)) throw NoMemory();
    const uint64_t before = charge_.bytes();
    const FieldBytes bytes = ReadField();
    ReadInput(bytes.view(), inputs.emplace_back());
    charge_.ShrinkTo(before + inputs.back().own.size());
  }
  void AddOutput() {
    std::vector<std::string>& outputs = request_.infer.outputs;
    if (outputs.size() == kMaxTensors) ThrowInvalid("more than {} outputs", kMaxTensors);
    const FieldBytes bytes = ReadField();
    if (bytes.view().size() > kMaxOutput) {
      ThrowInvalid("an output that is asked for with more than {} bytes", kMaxOutput);
    }
    Message::InferRequestedOutputTensor output;
    RequireWellFormed(output.ParseFromArray(bytes.view().data(), static_cast<int>(bytes.view().size())));
    const auto classes = output.parameters().find(kClassification);
    if (classes != output.parameters().end() && classes->second.int64_param() > 0) {
      ThrowInvalid("output '{}': there is no classification here", output.name());
    }
    for (const auto& [name, value] : output.parameters()) {
      if (name == kSharedMemory) ThrowSharedMemory("output", output.name());
      if (name != kClassification) LogIgnored("/v2", "outputs.parameters.", name);
    }
    outputs.push_back(output.name());
  }
  void AddParameter() {
    const FieldBytes bytes = ReadField();
    const Parameter parameter = ReadParameter(bytes.view());
    if (parameter.name != kEmptyFinal) return LogIgnored("/v2", "parameters.", parameter.name);
    request_.wants_empty_final = parameter.IsTrue();
  }
  void ReadInput(std::span<const uint8_t> bytes, InputTensor& tensor) {
    std::vector<std::span<const uint8_t>> contents;  // the pieces in which they came
    std::string type;
    RequireWellFormed(base::ForEachField(ProtoReader::WithGroups(bytes), [&](const ProtoField& field) {
      if (field.IsBytes(Input::kNameFieldNumber)) {
        tensor.name = ToText(field.bytes);
      } else if (field.IsBytes(Input::kDatatypeFieldNumber)) {
        type = ToText(field.bytes);
      } else if (field.IsBytes(Input::kContentsFieldNumber)) {
        if (contents.size() == kMaxTensors) ThrowInvalid("more than {} contents of an input", kMaxTensors);
        contents.push_back(field.bytes);
      } else if (field.IsBytes(Input::kParametersFieldNumber)) {
        const std::string_view parameter = ReadParameter(field.bytes).name;
        if (parameter == kSharedMemory) ThrowSharedMemory("input", tensor.name);
        LogIgnored("/v2", "inputs.parameters.", parameter);
      } else if (field.number == Input::kShapeFieldNumber && field.HasVarints()) {
        RequireWellFormed(base::ForEachVarint(field, [&](uint64_t dim) {
          AddDim(tensor, static_cast<int64_t>(dim));
          return true;
        }));
      }
    }));
    tensor.datatype = FindDatatype(type);
    if (tensor.datatype == nullptr) ThrowInvalid("input '{}': '{}' is not a datatype", tensor.name, type);
    for (const auto& piece : contents) AddContents(piece, charge_, tensor);
  }
  // Each input's bytes, if they came next to the inputs.
  void TakeRaw() {
    std::vector<InputTensor>& inputs = request_.infer.inputs;
    if (!raw_.empty() && raw_.size() != inputs.size()) {
      ThrowInvalid("{} inputs have {} raw_input_contents", inputs.size(), raw_.size());
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Datatype& datatype = *inputs[i].datatype;
      if (!raw_.empty()) {
        if (!inputs[i].own.empty()) ThrowInvalid("input '{}' has both contents and raw_input_contents", inputs[i].name);
        inputs[i].lent = raw_[i].lent;
        inputs[i].own = std::move(raw_[i].own);
      } else if (datatype.dtype == WASINN_DTYPE_F16 || datatype.dtype == WASINN_DTYPE_BF16) {
        ThrowInvalid("input '{}': {} only travels as raw_input_contents", inputs[i].name, datatype.name);
      }
    }
  }

  CodedInputStream in_;
  Charge& charge_;
  GrpcRequest& request_;
  std::vector<FieldBytes> raw_;
};

}  // namespace

std::string ToText(std::span<const uint8_t> bytes) {
  std::string text = ToName({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const auto size = static_cast<int>(text.size());
  if (!google::protobuf::internal::IsStructurallyValidUTF8(text.data(), size)) {
    ThrowInvalid("the message is not an inference request: a text in it is not UTF-8");
  }
  return text;
}

void ReadRequest(ZeroCopyInputStream& message, int size, Charge& charge, GrpcRequest& request) {
  MessageReader(message, charge, request).Read(size);
}

namespace {

using google::protobuf::io::CodedOutputStream;

// Copying less is cheaper than tracking its owner.
constexpr size_t kCopied = 8u << 10;

// Needed while outputs are written: both are freed with the last of them.
struct Kept {
  std::shared_ptr<const void> owner;
  std::shared_ptr<const Charge> charge;
};

// A message in pieces.
class Pieces {
 public:
  explicit Pieces(std::shared_ptr<const Charge> charge) : charge_(std::move(charge)) {}

  // The bytes before a field's content.
  void AppendHead(int field, uint64_t size) {
    uint8_t head[16];
    uint8_t* end = CodedOutputStream::WriteVarint32ToArray(BytesTag(field), head);
    end = CodedOutputStream::WriteVarint32ToArray(static_cast<uint32_t>(size), end);
    text_.append(head, end);
  }
  void Append(const std::string& text) { text_ += text; }
  void Append(OutputTensor& output) {
    if (output.bytes.size() <= kCopied) {
      text_.append(output.bytes.begin(), output.bytes.end());
      return;
    }
    Flush();
    auto kept = std::make_unique<Kept>(std::move(output.owner), charge_);
    slices_.emplace_back(
        const_cast<uint8_t*>(output.bytes.data()), output.bytes.size(), [](void* it) { delete static_cast<Kept*>(it); },
        kept.get());
    (void)kept.release();
  }
  grpc::ByteBuffer Take() {
    Flush();
    return grpc::ByteBuffer(slices_.data(), slices_.size());
  }

 private:
  void Flush() {
    if (!text_.empty()) slices_.emplace_back(text_);
    text_.clear();
  }

  const std::shared_ptr<const Charge> charge_;
  std::string text_;
  std::vector<grpc::Slice> slices_;
};

size_t HeadSize(int field, uint64_t size) {
  return CodedOutputStream::VarintSize32(BytesTag(field)) + CodedOutputStream::VarintSize64(size);
}

}  // namespace

grpc::ByteBuffer WriteResponse(InferResponse response, const std::string& id, GrpcForm form, Charge charge) {
  constexpr int kRaw = inference::ModelInferResponse::kRawOutputContentsFieldNumber;
  inference::ModelInferResponse message;
  message.set_model_name(response.model);
  message.set_model_version(response.version);
  message.set_id(id);
  if (form != GrpcForm::kResponse) {
    (*message.mutable_parameters())["triton_final_response"].set_bool_param(form == GrpcForm::kStreamFinal);
  }
  uint64_t bytes = 0, heads = 0;
  for (const OutputTensor& output : response.outputs) {
    auto& written = *message.add_outputs();
    written.set_name(output.name);
    written.set_datatype(std::string(output.datatype->name));
    written.mutable_shape()->Add(output.shape.begin(), output.shape.end());
    bytes += output.bytes.size();
    heads += HeadSize(kRaw, output.bytes.size());
  }
  const std::string text = message.SerializeAsString();
  const uint64_t size = text.size() + heads + bytes;
  if (size > INT_MAX - HeadSize(1, INT_MAX)) {
    Throw(WASINN_ERROR_TOO_LARGE, "the outputs have {} bytes, and a message of gRPC fewer than 2 GiB", bytes);
  }
  if (!charge.Add(bytes)) throw NoMemory();
  Pieces pieces(std::make_shared<Charge>(std::move(charge)));
  if (form != GrpcForm::kResponse) {
    pieces.AppendHead(inference::ModelStreamInferResponse::kInferResponseFieldNumber, size);
  }
  pieces.Append(text);
  for (OutputTensor& output : response.outputs) {
    pieces.AppendHead(kRaw, output.bytes.size());
    pieces.Append(output);
  }
  return pieces.Take();
}

grpc::ByteBuffer WriteError(const std::string& id, const std::string& message) {
  inference::ModelStreamInferResponse response;
  response.set_error_message(message);
  response.mutable_infer_response()->set_id(id);
  const grpc::Slice slice(response.SerializeAsString());
  return {&slice, 1};
}

}  // namespace wasinn::serve
