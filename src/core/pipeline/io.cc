#include "core/pipeline/io.h"

#include <algorithm>
#include <utility>

#include "core/inference/ios.h"
#include "core/memory/tensor.h"

namespace wasinn::pipeline {
namespace {

core::Status Differ(const Io& io, const wasinn_io& other, const char* what) {
  return core::Error(WASINN_ERROR_INVALID_ARGUMENT, "'{}' is {} there, and its '{}' takes {}{}", io.name,
                     core::Describe(io.ToC()), other.name, core::Describe(other), what);
}

bool ShapesFit(const Io& made, const wasinn_io& taken) {
  if (made.rank < 0 || taken.rank < 0) return true;
  const auto is_one = [](int32_t rank, const int64_t* dims) { return rank == 1 && (dims[0] == 1 || dims[0] < 0); };
  if (taken.rank == 0 && is_one(made.rank, made.dims.data())) return true;
  if (made.rank != taken.rank) return false;
  for (int32_t i = 0; i < made.rank; ++i) {
    if (made.dims[i] >= 0 && taken.dims[i] >= 0 && made.dims[i] != taken.dims[i]) return false;
  }
  return true;
}

}  // namespace

Io::Io(std::string its_name, const wasinn_io& like)
    : name(std::move(its_name)),
      type_name(like.type_name == nullptr ? "" : like.type_name),
      dtype(like.dtype),
      flags(like.flags),
      rank(like.rank) {
  if (rank > 0) dims.assign(like.dims, like.dims + rank);
}

wasinn_io Io::ToC() const {
  return {.struct_size = sizeof(wasinn_io),
          .dtype = dtype,
          .flags = flags,
          .rank = rank,
          .dims = dims.data(),
          .name = name.c_str(),
          .type_name = type_name.empty() ? nullptr : type_name.c_str()};
}

core::Status CheckFits(const Io& made, const wasinn_io& taken) {
  if (core::IsUnservable(taken)) return core::Unservable("input", taken, "");
  const wasinn_io from = made.ToC();
  if (core::IsUnservable(from)) return core::Unservable("output", from, "");
  if ((taken.flags & WASINN_IO_OPAQUE) != 0) {
    if (from.dtype == WASINN_DTYPE_U8 || from.dtype == WASINN_DTYPE_UNKNOWN) return core::Status();
    return Differ(made, taken, "");
  }
  const bool same =
      from.dtype == taken.dtype || from.dtype == WASINN_DTYPE_UNKNOWN || taken.dtype == WASINN_DTYPE_UNKNOWN;
  if (same && ShapesFit(made, taken)) return core::Status();
  return Differ(made, taken, "");
}

core::Status Narrow(Io& io, const wasinn_io& like) {
  const uint32_t both = WASINN_IO_OPAQUE | WASINN_IO_UNSERVABLE | WASINN_IO_STRINGS;
  const bool types_fit =
      io.dtype == like.dtype || io.dtype == WASINN_DTYPE_UNKNOWN || like.dtype == WASINN_DTYPE_UNKNOWN;
  const bool shapes_fit = io.rank < 0 || like.rank < 0 || (io.rank == like.rank && ShapesFit(io, like));
  if (!types_fit || !shapes_fit || (io.flags & both) != (like.flags & both)) {
    return Differ(io, like, ": one tensor cannot be both");
  }
  if (io.dtype == WASINN_DTYPE_UNKNOWN) io.dtype = like.dtype;
  if ((like.flags & WASINN_IO_OPTIONAL) == 0) io.flags &= ~uint32_t{WASINN_IO_OPTIONAL};
  if (io.rank < 0 && like.rank >= 0) {
    io.rank = like.rank;
    io.dims.assign(like.dims, like.dims + like.rank);
  }
  for (int32_t i = 0; i < std::min(io.rank, like.rank); ++i) io.dims[i] = std::max(io.dims[i], like.dims[i]);
  return core::Status();
}

}  // namespace wasinn::pipeline
