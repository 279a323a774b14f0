// A backend as a worker has it, in a child: what is wrong ends that.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "check/driver.h"
#include "check/subject_of.h"
#include "worker/frameworks.h"

namespace wasinn::test {

// Ends this OS process with these words unless it holds.
void Require(bool holds, const std::string& what);
template <typename Value>
Value Required(std::expected<Value, std::string> value) {
  Require(value.has_value(), value ? "" : value.error());
  return *std::move(value);
}

// A model with its bytes, which are read while that can be.
class Bytes {
 public:
  explicit Bytes(const Model& model);

  const check::SubjectOptions& options() const { return options_; }
  // Needs the framework.
  check::Subject Subject(const check::Host& host) const;

 private:
  check::SubjectOptions options_;
  std::vector<std::vector<std::string>> texts_;
};

class Backend {
 public:
  Backend(const std::string& library, uint32_t threads);

  const check::Host& host() const { return host_; }
  // Loads the model, as a guest's, and computes it. Returns a number that distinguishes results.
  size_t Compute(const Bytes& bytes) const;

 private:
  check::Host host_;
};

}  // namespace wasinn::test
