#include "remote/request.h"

#include <google/protobuf/io/coded_stream.h>
#include <grpc/slice.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <cstring>

#include <inference.pb.h>
#include "remote/datatype.h"

namespace wasinn::remote {

namespace {

using google::protobuf::io::CodedOutputStream;
using RequestMessage = inference::ModelInferRequest;

constexpr uint32_t kRawTag = RequestMessage::kRawInputContentsFieldNumber << 3 | 2;

uint8_t* Append(uint8_t* end, const void* data, size_t bytes) {
  if (bytes > 0) std::memcpy(end, data, bytes);
  return end + bytes;
}

}  // namespace

uint64_t RawBytes(const Inputs::Input& input) { return input.bytes + (input.port->is_text ? kLengthOfText : 0); }

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

InferRequest::InferRequest(const Address& address, const Inputs& inputs, std::span<const std::string> outputs)
    : inputs_(inputs) {
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
  for (const std::string& name : outputs) message.add_outputs()->set_name(name);
  head_ = message.SerializeAsString();
  bytes_ = head_.size() + raw;
}

grpc::ByteBuffer InferRequest::Write() const {
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
  return {&slice, 1};
}

}  // namespace wasinn::remote
