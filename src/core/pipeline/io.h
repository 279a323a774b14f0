// Signatures of tensors that several models agree about.
#pragma once

#include <wasinn/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/status.h"

namespace wasinn::pipeline {

// A tensor of a pipeline, with what is known of it.
struct Io {
  // As a model has it, under the pipeline's name.
  Io(std::string its_name, const wasinn_io& like);
  // What is known of an output of a model that tells none: its name.
  explicit Io(std::string its_name) : name(std::move(its_name)) {}
  // Once it stays where it is.
  wasinn_io ToC() const;

  std::string name, type_name;
  uint32_t dtype = WASINN_DTYPE_UNKNOWN, flags = 0;
  int32_t rank = -1;
  std::vector<int64_t> dims;
};

// Whether a tensor that a step makes may be one that a later one takes, as far as their signatures tell.
core::Status CheckFits(const Io& made, const wasinn_io& taken);
// Of an input that several steps take: `io` knows afterwards what both know.
core::Status Narrow(Io& io, const wasinn_io& like);

}  // namespace wasinn::pipeline
