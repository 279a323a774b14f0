// The signature of a tensor that several models use.
#pragma once

#include <wasinn/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/status.h"

namespace wasinn::pipeline {

// A tensor of a pipeline, and what is known about it.
struct Io {
  // Copies a model's io, under the pipeline's name.
  Io(std::string its_name, const wasinn_io& like);
  // For an output that its model does not describe: only the name is known.
  explicit Io(std::string its_name) : name(std::move(its_name)) {}
  // The result points into this object, which must not move any more.
  wasinn_io ToC() const;

  std::string name, type_name;
  uint32_t dtype = WASINN_DTYPE_UNKNOWN, flags = 0;
  int32_t rank = -1;
  std::vector<int64_t> dims;
};

// Checks whether a step's output may be a later step's input, as far as their signatures say.
core::Status CheckFits(const Io& made, const wasinn_io& taken);
// For an input of several steps: narrows `io` to what all of them accept.
core::Status Narrow(Io& io, const wasinn_io& like);

}  // namespace wasinn::pipeline
