// A server's answer to an inference, and its metadata of a model.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wasinn::remote {

// An output as the server sent it, not validated.
struct AnsweredTensor {
  std::string name, datatype;
  std::vector<int64_t> dims;
  std::string contents;  // InferTensorContents, if the server sends no raw bytes
  bool is_json = false;
  std::string_view json;     // an array in the message
  bool is_optional = false;  // an input that may be left unset
  // The position of its raw bytes in the message.
  bool is_raw = false;
  uint64_t at = 0, bytes = 0;
};

// Reads an output, or a tensor of a model's metadata, which has the same fields. Throws WASINN_ERROR_RUNTIME.
AnsweredTensor ReadTensor(std::span<const uint8_t> bytes);

// Reads outputs in the message's order. Throws WASINN_ERROR_RUNTIME if the answer is invalid or has more than `most`.
std::vector<AnsweredTensor> ReadAnswer(const grpc::ByteBuffer& message, size_t most);

// Fills `out` with elements of `dtype` from an InferTensorContents. Returns false if the type or the count differs.
bool DecodeContents(std::string_view contents, uint32_t dtype, std::span<uint8_t> out);
// The only text of contents. Returns false if there are none or several.
bool TextOfContents(std::string_view contents, std::string_view* text);

// Copies raw bytes out of a message, front to back.
class RawReader {
 public:
  explicit RawReader(const grpc::ByteBuffer& message);

  // `at` must be after all bytes that were read.
  void Read(uint64_t at, std::span<uint8_t> to);

 private:
  std::vector<grpc::Slice> slices_;
  size_t slice_ = 0;
  uint64_t before_ = 0;  // bytes of the slices before it
};

// Only the tensors' names, datatypes and dims are set.
struct Metadata {
  std::string platform;
  std::vector<AnsweredTensor> inputs, outputs;
};

// Not parsed by Protocol Buffers, whose parser writes to stderr if a text is not UTF-8. Throws WASINN_ERROR_RUNTIME if
// the message is invalid.
Metadata ReadMetadata(const grpc::ByteBuffer& message);

}  // namespace wasinn::remote
