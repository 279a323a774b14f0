// Element types: a framework's and wasinn's.
#pragma once

#include <wasinn/types.h>

#include <algorithm>
#include <span>

namespace wasinn::backend {

struct TypeRow {
  int type;            // the framework's number: an int, since its headers may be older than its library
  wasinn_dtype dtype;  // WASINN_DTYPE_UNKNOWN: wasinn has no word for it
  const char* name;    // the framework's own word
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
