// Makes the inferences that are timed, always on the same tensors.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/tensors.h"

namespace wasinn::bench {

// One thread at a time.
class Runner {
 public:
  virtual ~Runner() = default;
  // Makes one inference. Returns false if it failed; error() has the reason.
  virtual bool Run() = 0;
  virtual std::string error() const = 0;
};

}  // namespace wasinn::bench
