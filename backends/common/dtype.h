// Element types of a framework, with wasinn's; and sizes of tensors.
#pragma once

#include <wasinn/types.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/tensor_bytes.h"

namespace wasinn::backend {

using base::AddSat;
using base::ElementSize;
using base::MulSat;
using base::TensorBytes;

struct TypeRow {
  int type;            // the framework's number: an int, since its headers may be older than its library
  wasinn_dtype dtype;  // WASINN_DTYPE_UNKNOWN: wasinn does not have it
  const char* name;    // the framework's own name
};

// NULL: there is none.
constexpr const TypeRow* FindType(std::span<const TypeRow> rows, int type) {
  const auto found = std::ranges::find(rows, type, &TypeRow::type);
  return found == rows.end() ? nullptr : &*found;
}
constexpr wasinn_dtype DtypeOf(std::span<const TypeRow> rows, int type) {
  const TypeRow* row = FindType(rows, type);
  return row == nullptr ? WASINN_DTYPE_UNKNOWN : row->dtype;
}
constexpr const char* NameOf(std::span<const TypeRow> rows, int type) {
  const TypeRow* row = FindType(rows, type);
  return row == nullptr ? "unknown" : row->name;
}

}  // namespace wasinn::backend
