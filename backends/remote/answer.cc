#include "remote/answer.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <cstring>

#include <inference.pb.h>
#include "base/proto_reader.h"
#include "common/error.h"
#include "remote/signature.h"

namespace wasinn::remote {

using backend::Error;
using base::ProtoField;
using base::ProtoReader;
using google::protobuf::io::CodedInputStream;

namespace {

using ResponseMessage = inference::ModelInferResponse;
using ResponseOutput = ResponseMessage::InferOutputTensor;

constexpr uint32_t BytesTag(int field) { return static_cast<uint32_t>(field) << 3 | 2; }

void Require(bool is_well_formed) {
  if (!is_well_formed) throw Error(WASINN_ERROR_RUNTIME, "the server's answer is not a message of the protocol");
}

std::string Name(const ProtoField& field) {
  if (field.bytes.size() <= kMostName) return std::string(field.text());
  throw Error(WASINN_ERROR_UNSUPPORTED_OPERATION,
              fmt::format("the server names a tensor or a type with more than {} bytes", kMostName));
}

void AddDim(AnsweredTensor& tensor, uint64_t dim) {
  if (tensor.dims.size() == WASINN_MAX_RANK) {
    throw Error(WASINN_ERROR_UNSUPPORTED_OPERATION,
                fmt::format("the server describes a tensor with more than {} dimensions", WASINN_MAX_RANK));
  }
  tensor.dims.push_back(static_cast<int64_t>(dim));
}

void AddDims(AnsweredTensor& tensor, const ProtoField& field) {
  if (field.type == ProtoField::Type::kVarint) return AddDim(tensor, field.value);
  CodedInputStream packed(field.bytes.data(), static_cast<int>(field.bytes.size()));
  while (packed.CurrentPosition() < static_cast<int>(field.bytes.size())) {
    uint64_t dim = 0;
    Require(packed.ReadVarint64(&dim));
    AddDim(tensor, dim);
  }
}

struct Raw {
  uint64_t at, bytes;
};

}  // namespace

AnsweredTensor ReadTensor(std::span<const uint8_t> bytes) {
  AnsweredTensor tensor;
  ProtoReader reader(bytes);
  ProtoField field;
  while (reader.Next(&field)) {
    switch (field.number) {
      case ResponseOutput::kNameFieldNumber:
        tensor.name = Name(field);
        break;
      case ResponseOutput::kDatatypeFieldNumber:
        tensor.datatype = Name(field);
        break;
      case ResponseOutput::kShapeFieldNumber:
        AddDims(tensor, field);
        break;
      case ResponseOutput::kContentsFieldNumber:
        tensor.contents += field.text();
        break;
      default:
        break;
    }
  }
  Require(!reader.broken());
  return tensor;
}

std::vector<AnsweredTensor> ReadAnswer(const grpc::ByteBuffer& message, size_t most) {
  Require(message.Valid());
  grpc::ByteBuffer references(message);
  grpc::ProtoBufferReader stream(&references);
  Require(stream.status().ok());
  CodedInputStream in(&stream);
  std::vector<AnsweredTensor> tensors;
  std::vector<Raw> raws;
  const auto check = [&](size_t n) {
    if (n <= most) return;
    throw Error(WASINN_ERROR_RUNTIME, fmt::format("the server answers with more than {} outputs", most));
  };
  std::string text;
  while (const uint32_t tag = in.ReadTag()) {
    uint32_t length = 0;
    if (tag == BytesTag(ResponseMessage::kOutputsFieldNumber)) {
      Require(in.ReadVarint32(&length) && length <= message.Length() && in.ReadString(&text, static_cast<int>(length)));
      tensors.push_back(ReadTensor({reinterpret_cast<const uint8_t*>(text.data()), text.size()}));
      check(tensors.size());
    } else if (tag == BytesTag(ResponseMessage::kRawOutputContentsFieldNumber)) {
      Require(in.ReadVarint32(&length) && length <= message.Length());
      raws.push_back({static_cast<uint64_t>(in.CurrentPosition()), length});
      Require(in.Skip(static_cast<int>(length)));
      check(raws.size());
    } else {
      Require(google::protobuf::internal::WireFormatLite::SkipField(&in, tag));
    }
  }
  Require(in.ConsumedEntireMessage() && (raws.empty() || raws.size() == tensors.size()));
  for (size_t i = 0; i < raws.size(); ++i) {
    tensors[i].is_raw = true;
    tensors[i].at = raws[i].at;
    tensors[i].bytes = raws[i].bytes;
  }
  return tensors;
}

RawReader::RawReader(const grpc::ByteBuffer& message) { (void)message.Dump(&slices_); }

void RawReader::Read(uint64_t at, std::span<uint8_t> to) {
  while (!to.empty()) {
    Require(slice_ < slices_.size());
    const grpc::Slice& slice = slices_[slice_];
    if (at - before_ >= slice.size()) {
      before_ += slice.size();
      ++slice_;
      continue;
    }
    const size_t skipped = at - before_, n = std::min(to.size(), slice.size() - skipped);
    std::memcpy(to.data(), slice.begin() + skipped, n);
    to = to.subspan(n);
    at += n;
  }
}

}  // namespace wasinn::remote
