// FlatBuffers' format, read with checked bounds.
#ifndef WASINN_BACKENDS_TFLITE_FLAT_READER_H_
#define WASINN_BACKENDS_TFLITE_FLAT_READER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace wasinn::tflite {

class FlatVector;

// A table. Whatever the bytes say, nothing outside of them is read: what points there throws WASINN_INVALID_ENCODING.
// An absent field is nullopt, or its default.
class FlatTable {
 public:
  static FlatTable Root(std::span<const uint8_t> bytes);
  FlatTable(std::span<const uint8_t> bytes, uint64_t position);

  template <typename Number>
  Number Get(int field, Number otherwise) const;
  std::optional<FlatTable> Table(int field) const;
  std::string_view Text(int field) const;
  // Absent: of no elements.
  FlatVector Vector(int field, size_t element_size) const;

 private:
  // Where the field's value is; 0: absent.
  uint64_t Find(int field) const;

  std::span<const uint8_t> bytes_;
  uint64_t position_;
  uint64_t vtable_ = 0;
  uint16_t vtable_size_ = 0;
};

// A vector of numbers, or of tables.
class FlatVector {
 public:
  FlatVector() = default;
  FlatVector(std::span<const uint8_t> bytes, uint64_t position, size_t element_size);

  uint32_t size() const { return size_; }
  template <typename Number>
  Number Get(uint32_t i) const;
  FlatTable Table(uint32_t i) const;

 private:
  friend class FlatTable;

  std::span<const uint8_t> bytes_;
  uint64_t position_ = 0;  // of the first element
  uint32_t size_ = 0;
};

}  // namespace wasinn::tflite

#endif  // WASINN_BACKENDS_TFLITE_FLAT_READER_H_
