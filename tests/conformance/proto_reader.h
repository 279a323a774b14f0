// Reads ONNX's files: the wire format of protocol buffers, and the one message of it that holds a tensor. Compiled for
// the host and for the guest; no exceptions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace wasinn::testing {

// Goes through the fields of one message. Never reads outside of its bytes; malformed ones end it with ok() false.
class ProtoReader {
 public:
  explicit ProtoReader(std::span<const uint8_t> bytes) : rest_(bytes) {}

  // To the next field; false at the end.
  bool Next();
  bool ok() const { return ok_; }

  uint32_t field() const { return field_; }
  // Bytes, strings, messages and packed numbers are a field of bytes.
  bool has_bytes() const { return has_bytes_; }
  std::span<const uint8_t> bytes() const { return bytes_; }
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }
  uint64_t number() const { return number_; }

  // A varint at the head of the bytes, for packed numbers.
  bool TakeVarint(uint64_t* out);
  bool empty() const { return rest_.empty(); }

 private:
  bool TakeFixed(size_t size, uint64_t* out);
  bool Fail();

  std::span<const uint8_t> rest_;
  bool ok_ = true;
  uint32_t field_ = 0;
  bool has_bytes_ = false;
  std::span<const uint8_t> bytes_;
  uint64_t number_ = 0;
};

// The numbers of TensorProto.DataType, which are ONNXTensorElementDataType's too.
enum OnnxType : int32_t {
  kOnnxFloat = 1,
  kOnnxUint8 = 2,
  kOnnxInt8 = 3,
  kOnnxUint16 = 4,
  kOnnxInt16 = 5,
  kOnnxInt32 = 6,
  kOnnxInt64 = 7,
  kOnnxString = 8,
  kOnnxBool = 9,
  kOnnxFloat16 = 10,
  kOnnxDouble = 11,
  kOnnxUint32 = 12,
  kOnnxUint64 = 13,
  kOnnxComplex64 = 14,
  kOnnxComplex128 = 15,
  kOnnxBfloat16 = 16,
  kOnnxFirstFloat8 = 17,
  kOnnxLastFloat8 = 20,
  kOnnxUint4 = 21,
  kOnnxInt4 = 22,
};

// Bits of one element; 0 for what has no fixed size.
size_t ElementBits(int32_t type);

struct OnnxTensor {
  int32_t type = 0;
  std::vector<int64_t> dims;
  std::vector<uint8_t> bytes;  // dense, row-major, little-endian; 4-bit elements two to a byte

  bool operator==(const OnnxTensor&) const = default;
};

// Bytes that a tensor of this type and shape has. False if there is no such size or it does not fit.
bool TensorBytes(int32_t type, std::span<const int64_t> dims, size_t* out);

// False unless `message` is a TensorProto that holds all its elements itself, and they are numbers.
bool ReadTensorProto(std::span<const uint8_t> message, OnnxTensor* out);

}  // namespace wasinn::testing
