// What is timed: one inference, again and again, on the same tensors.
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
  // One inference. False: it failed, and error() says why.
  virtual bool Run() = 0;
  virtual std::string error() const = 0;
};

}  // namespace wasinn::bench
