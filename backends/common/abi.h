// Structs that the host hands to a backend.
#ifndef WASINN_BACKENDS_COMMON_ABI_H_
#define WASINN_BACKENDS_COMMON_ABI_H_

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace wasinn::backend {

// A copy of a struct whose caller may be older or newer than this backend: fields that the caller does not have are
// zero.
template <typename Struct>
Struct ReadStruct(const Struct* from) {
  Struct to = {};
  if (from != nullptr) std::memcpy(&to, from, std::min<size_t>(from->struct_size, sizeof(Struct)));
  to.struct_size = sizeof(Struct);
  return to;
}

}  // namespace wasinn::backend

#endif  // WASINN_BACKENDS_COMMON_ABI_H_
