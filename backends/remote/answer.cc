
#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <inference.pb.h>

#include <algorithm>
#include <cstring>

#include "base/proto_reader.h"
#include "common/error.h"
#include "oip/contents.h"
#include "remote/tensors.h"

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
  if (field.bytes.size() <= kMaxName) return std::string(field.text());
  throw Error(WASINN_ERROR_UNSUPPORTED_OPERATION,
              fmt::format("the server names a tensor or a type with more than {} bytes", kMaxName));
}

void AddDim(AnsweredTensor& tensor, uint64_t dim) {
  if (tensor.dims.size() == WASINN_MAX_RANK) {
    throw Error(WASINN_ERROR_UNSUPPORTED_OPERATION,
                fmt::format("the server describes a tensor with more than {} dimensions", WASINN_MAX_RANK));
  }
  tensor.dims.push_back(static_cast<int64_t>(dim));
}

void AddDims(AnsweredTensor& tensor, const ProtoField& field) {
  Require(!field.HasVarints() || base::ForEachVarint(field, [&](uint64_t dim) {
    AddDim(tensor, dim);
    return true;
  }));
}

struct Raw {
  uint64_t at, bytes;
};

using MetadataMessage = inference::ModelMetadataResponse;

void AddTensor(std::vector<AnsweredTensor>& tensors, const base::ProtoField& field, const char* kind) {
  if (tensors.size() == kMaxTensors) {
    throw backend::Error(WASINN_ERROR_UNSUPPORTED_OPERATION,
                         fmt::format("the server describes more than {} {}", kMaxTensors, kind));
  }
  tensors.push_back(ReadTensor(field.bytes));
}

using Contents = inference::InferTensorContents;

std::span<const uint8_t> BytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// Memory for the elements of contents.
struct ContentsSink {
  std::span<uint8_t> rest;

  bool Add(std::span<const uint8_t> bytes) {
    if (bytes.size() > rest.size()) return false;
    std::ranges::copy(bytes, rest.begin());
    rest = rest.subspan(bytes.size());
    return true;
  }
  static bool AddWrong(auto /*number*/) { return false; }
  static bool AddOther() { return true; }  // not asked for
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

bool DecodeContents(std::string_view contents, uint32_t dtype, std::span<uint8_t> out) {
  ContentsSink sink{out};
  return oip::ReadContents(BytesOf(contents), static_cast<wasinn_dtype>(dtype), sink) && sink.rest.empty();
}

bool TextOfContents(std::string_view contents, std::string_view* text) {
  int n = 0;
  const bool is_good = base::ForEachField(BytesOf(contents), [&](const ProtoField& field) {
    if (!field.IsBytes(Contents::kBytesContentsFieldNumber)) return;
    *text = field.text();
    ++n;
  });
  return is_good && n == 1;
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
