#include "remote/oip_grpc.h"

#include <google/protobuf/io/coded_stream.h>
#include <grpc/slice.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <inference.pb.h>

#include <cstring>
#include <string>
#include <utility>

#include "oip/datatype.h"

namespace wasinn::remote {

namespace {

using google::protobuf::io::CodedOutputStream;
using RequestMessage = inference::ModelInferRequest;

std::string Method(const char* name) { return std::string("/inference.GRPCInferenceService/") + name; }

template <typename Message>
Request About(const Address& address, const char* method) {
  Message message;
  message.set_name(address.model);
  message.set_version(address.version);
  return {.path = Method(method), .body = ToBuffer(message)};
}

constexpr uint32_t kRawTag = RequestMessage::kRawInputContentsFieldNumber << 3 | 2;

uint8_t* Append(uint8_t* end, const void* data, size_t bytes) {
  if (bytes > 0) std::memcpy(end, data, bytes);
  return end + bytes;
}

// An inference whose inputs' bytes follow the rest of the message (raw_input_contents), and are copied once.
class GrpcInference final : public Inference {
 public:
  GrpcInference(const Address& address, const Inputs& inputs, const Outputs& outputs) : inputs_(inputs) {
    RequestMessage message;
    message.set_model_name(address.model);
    message.set_model_version(address.version);
    uint64_t raw = 0;
    for (const Inputs::Input* one : inputs.set()) {
      const Inputs::Input& input = *one;
      auto& added = *message.add_inputs();
      added.set_name(input.port->name);
      added.set_datatype(input.port->type_name);
      added.mutable_shape()->Add(input.dims.begin(), input.dims.end());
      const uint64_t bytes = RawBytes(input);
      raw += CodedOutputStream::VarintSize32(kRawTag) + CodedOutputStream::VarintSize64(bytes) + bytes;
    }
    for (const std::string& name : outputs.WantedNames()) message.add_outputs()->set_name(name);
    head_ = message.SerializeAsString();
    bytes_ = head_.size() + raw;
  }

  uint64_t bytes() const override { return bytes_; }
  Request Write() const override {
    grpc_slice memory = grpc_slice_malloc(bytes_);
    uint8_t* end = Append(GRPC_SLICE_START_PTR(memory), head_.data(), head_.size());
    for (const Inputs::Input* one : inputs_.set()) {
      const Inputs::Input& input = *one;
      end = CodedOutputStream::WriteVarint32ToArray(kRawTag, end);
      end = CodedOutputStream::WriteVarint64ToArray(RawBytes(input), end);
      if (input.port->is_text)
        end = CodedOutputStream::WriteLittleEndian32ToArray(static_cast<uint32_t>(input.bytes), end);
      end = Append(end, input.data, input.bytes);
    }
    const grpc::Slice slice(memory, grpc::Slice::STEAL_REF);  // now, because a small slice contains its bytes
    return {.path = Method("ModelInfer"), .body = {&slice, 1}};
  }

 private:
  const Inputs& inputs_;
  std::string head_;
  uint64_t bytes_;
};

}  // namespace

Metadata OipGrpc::AskMetadata(const Ask& ask) {
  return ReadMetadata(ask(About<inference::ModelMetadataRequest>(address_, "ModelMetadata")).message);
}

std::unique_ptr<const Inference> OipGrpc::Infer(const GuestSettings* /*settings*/, const Inputs& inputs,
                                                const Outputs& outputs) const {
  return std::make_unique<const GrpcInference>(address_, inputs, outputs);
}

std::vector<AnsweredTensor> OipGrpc::ReadAnswer(const Reply& reply, size_t most) const {
  return remote::ReadAnswer(reply.message, most);
}

Request OipGrpc::AskReady() const { return About<inference::ModelReadyRequest>(address_, "ModelReady"); }

bool OipGrpc::IsReady(const Reply& reply) const {
  inference::ModelReadyResponse response;
  return ParseMessage(reply.message, &response) && response.ready();
}

uint64_t RawBytes(const Inputs::Input& input) { return input.bytes + (input.port->is_text ? oip::kLengthBytes : 0); }

grpc::ByteBuffer ToBuffer(const google::protobuf::MessageLite& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return {&slice, 1};
}

bool ParseMessage(const grpc::ByteBuffer& bytes, google::protobuf::MessageLite* message) {
  if (!bytes.Valid()) return false;
  grpc::ByteBuffer references(bytes);
  grpc::ProtoBufferReader reader(&references);
  return reader.status().ok() && message->ParseFromZeroCopyStream(&reader);
}

}  // namespace wasinn::remote
