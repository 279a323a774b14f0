#include "remote/metadata.h"

#include <fmt/format.h>

#include <inference.pb.h>
#include "base/proto_reader.h"
#include "common/error.h"
#include "remote/signature.h"

namespace wasinn::remote {

namespace {

using MetadataMessage = inference::ModelMetadataResponse;

void AddTensor(std::vector<AnsweredTensor>& tensors, const base::ProtoField& field, const char* kind) {
  if (tensors.size() == kMostTensors) {
    throw backend::Error(WASINN_ERROR_UNSUPPORTED_OPERATION,
                         fmt::format("the server describes more than {} {}", kMostTensors, kind));
  }
  tensors.push_back(ReadTensor(field.bytes));
}

}  // namespace

Metadata ReadMetadata(const grpc::ByteBuffer& message) {
  std::string text(message.Valid() ? message.Length() : 0, '\0');
  RawReader(message).Read(0, {reinterpret_cast<uint8_t*>(text.data()), text.size()});
  Metadata metadata;
  base::ProtoReader reader({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  base::ProtoField field;
  while (reader.Next(&field)) {
    if (field.number == MetadataMessage::kPlatformFieldNumber) metadata.platform = field.text();
    if (field.number == MetadataMessage::kInputsFieldNumber) AddTensor(metadata.inputs, field, "inputs");
    if (field.number == MetadataMessage::kOutputsFieldNumber) AddTensor(metadata.outputs, field, "outputs");
  }
  if (reader.broken()) throw backend::Error(WASINN_ERROR_RUNTIME, "the server's answer is not a model's metadata");
  return metadata;
}

}  // namespace wasinn::remote
