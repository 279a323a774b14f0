#include "serve/grpc/grpc_messages.h"

#include <google/protobuf/io/coded_stream.h>

#include <climits>
#include <memory>
#include <utility>
#include <vector>

#include <inference.pb.h>

namespace wasinn::serve {
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
