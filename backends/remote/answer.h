// A server's answer to an inference.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wasinn::remote {

// An output as the server tells it: nothing of it has been compared with anything.
struct AnsweredTensor {
  std::string name, datatype;
  std::vector<int64_t> dims;
  std::string contents;  // InferTensorContents, of servers that send no raw bytes
  bool is_json = false;
  std::string_view json;     // an array, which lies in the message
  bool is_optional = false;  // an input that need not be set
  // Where its raw bytes lie in the message.
  bool is_raw = false;
  uint64_t at = 0, bytes = 0;
};

// One of these, or a tensor of a model's metadata, which has the same fields. WASINN_ERROR_RUNTIME for what is none.
AnsweredTensor ReadTensor(std::span<const uint8_t> bytes);

// Outputs in the order of the message. WASINN_ERROR_RUNTIME for what is no answer, or tells more than `most` of them.
std::vector<AnsweredTensor> ReadAnswer(const grpc::ByteBuffer& message, size_t most);

// Copies raw bytes out of a message, front to back.
class RawReader {
 public:
  explicit RawReader(const grpc::ByteBuffer& message);

  // `at` is behind all that was read.
  void Read(uint64_t at, std::span<uint8_t> to);

 private:
  std::vector<grpc::Slice> slices_;
  size_t slice_ = 0;
  uint64_t before_ = 0;  // bytes of the slices before it
};

}  // namespace wasinn::remote
