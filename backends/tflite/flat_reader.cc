#include "tflite/flat_reader.h"

#include <cstring>

#include "common/error.h"

namespace wasinn::tflite {

namespace {

[[noreturn]] void ThrowBroken() {
  throw backend::Error(WASINN_INVALID_ENCODING, "broken FlatBuffer: something in it lies outside of it");
}

template <typename Number>
Number Read(std::span<const uint8_t> bytes, uint64_t position) {
  if (position > bytes.size() || bytes.size() - position < sizeof(Number)) ThrowBroken();
  Number value;
  std::memcpy(&value, bytes.data() + position, sizeof(Number));
  return value;
}

// Positions are below 2^33 at any time: no sum overflows.
uint64_t Follow(std::span<const uint8_t> bytes, uint64_t position) {
  return position + Read<uint32_t>(bytes, position);
}

}  // namespace

FlatTable FlatTable::Root(std::span<const uint8_t> bytes) { return {bytes, Follow(bytes, 0)}; }

FlatTable::FlatTable(std::span<const uint8_t> bytes, uint64_t position) : bytes_(bytes), position_(position) {
  const int64_t vtable = static_cast<int64_t>(position) - Read<int32_t>(bytes, position);
  if (vtable < 0) ThrowBroken();
  vtable_ = static_cast<uint64_t>(vtable);
  vtable_size_ = Read<uint16_t>(bytes, vtable_);
}

uint64_t FlatTable::Find(int field) const {
  const uint64_t entry = 4 + 2 * static_cast<uint64_t>(field);
  if (entry + 2 > vtable_size_) return 0;
  const auto offset = Read<uint16_t>(bytes_, vtable_ + entry);
  return offset == 0 ? 0 : position_ + offset;
}

template <typename Number>
Number FlatTable::Get(int field, Number otherwise) const {
  const uint64_t position = Find(field);
  return position == 0 ? otherwise : Read<Number>(bytes_, position);
}

template int8_t FlatTable::Get(int, int8_t) const;
template uint8_t FlatTable::Get(int, uint8_t) const;
template int32_t FlatTable::Get(int, int32_t) const;
template uint32_t FlatTable::Get(int, uint32_t) const;
template uint64_t FlatTable::Get(int, uint64_t) const;

std::optional<FlatTable> FlatTable::Table(int field) const {
  const uint64_t position = Find(field);
  if (position == 0) return std::nullopt;
  return FlatTable(bytes_, Follow(bytes_, position));
}

FlatVector FlatTable::Vector(int field, size_t element_size) const {
  const uint64_t position = Find(field);
  return position == 0 ? FlatVector() : FlatVector(bytes_, Follow(bytes_, position), element_size);
}

std::string_view FlatTable::Text(int field) const {
  const FlatVector text = Vector(field, 1);
  if (text.size() == 0) return {};
  return {reinterpret_cast<const char*>(bytes_.data() + text.position_), text.size()};
}

FlatVector::FlatVector(std::span<const uint8_t> bytes, uint64_t position, size_t element_size)
    : bytes_(bytes), position_(position + 4), size_(Read<uint32_t>(bytes, position)) {
  if (bytes.size() - position_ < uint64_t{size_} * element_size) ThrowBroken();
}

template <typename Number>
Number FlatVector::Get(uint32_t i) const {
  return Read<Number>(bytes_, position_ + uint64_t{i} * sizeof(Number));
}

template int32_t FlatVector::Get(uint32_t) const;
template uint8_t FlatVector::Get(uint32_t) const;

FlatTable FlatVector::Table(uint32_t i) const { return {bytes_, Follow(bytes_, position_ + uint64_t{i} * 4)}; }

}  // namespace wasinn::tflite
