// Elements of tensors that come as numbers of a message (InferTensorContents), and not as raw bytes.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>

#include <inference.pb.h>
#include "base/proto_reader.h"
#include "oip/datatype.h"

namespace wasinn::oip {

// The field that has elements of type T.
template <typename T>
constexpr uint32_t ContentsField() {
  using Contents = inference::InferTensorContents;
  if (std::same_as<T, bool>) return Contents::kBoolContentsFieldNumber;
  if (std::same_as<T, float>) return Contents::kFp32ContentsFieldNumber;
  if (std::same_as<T, double>) return Contents::kFp64ContentsFieldNumber;
  if (std::same_as<T, int64_t>) return Contents::kInt64ContentsFieldNumber;
  if (std::same_as<T, uint64_t>) return Contents::kUint64ContentsFieldNumber;
  return std::is_signed_v<T> ? Contents::kIntContentsFieldNumber : Contents::kUintContentsFieldNumber;
}

// The type of a number in such a field.
template <typename T>
using Wire =
    std::conditional_t<sizeof(T) == sizeof(int64_t), T, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>>;

// Each number of `field` must be a T. `sink`: as below.
template <typename T, typename Sink>
bool ReadNumbers(const base::ProtoField& field, Sink& sink) {
  const auto add = [&sink](const auto& element) {
    return sink.Add({reinterpret_cast<const uint8_t*>(&element), sizeof element});
  };
  if constexpr (std::floating_point<T>) {
    const bool is_one = field.type == base::ProtoField::Type::kFixed && field.bytes.size() == sizeof(T);
    if (!is_one && field.type != base::ProtoField::Type::kBytes) return sink.AddOther();
    return field.bytes.size() % sizeof(T) == 0 && sink.Add(field.bytes);
  } else {
    if (!field.HasVarints()) return sink.AddOther();
    return base::ForEachVarint(field, [&](uint64_t value) {
      if constexpr (std::same_as<T, bool>) {
        return add(uint8_t{value != 0});
      } else {
        const auto number = static_cast<Wire<T>>(value);
        return std::in_range<T>(number) ? add(static_cast<T>(number)) : sink.AddWrong(number);
      }
    });
  }
}

// `sink.Add(bytes)` gets elements, `sink.AddWrong(number)` a number that is out of the type's range, and `sink.AddOther()`
// is called for a field of another type. Each may return false, which ends the reading. Returns false then, for a
// malformed message, and for a type that has no field of numbers.
template <typename Sink>
bool ReadContents(std::span<const uint8_t> contents, wasinn_dtype dtype, Sink& sink) {
  bool is_good = true;
  const bool has_field = WithElementType(dtype, [&]<typename T>(T /*type*/) {
    base::ProtoReader reader = base::ProtoReader::WithGroups(contents);
    for (base::ProtoField field; is_good && reader.Next(&field);) {
      if (field.number == ContentsField<T>()) {
        is_good = ReadNumbers<T>(field, sink);
      } else if (field.number <= inference::InferTensorContents::kBytesContentsFieldNumber) {
        is_good = sink.AddOther();
      }
    }
    is_good = is_good && !reader.broken();
  });
  return has_field && is_good;
}

}  // namespace wasinn::oip
