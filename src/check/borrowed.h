// Memory that a caller lends to a backend for an input, and memory that a backend gives away as an output.
#ifndef WASINN_CHECK_LENT_H_
#define WASINN_CHECK_LENT_H_

#include <string>
#include <vector>

#include "check/driver.h"

namespace wasinn::check {

// As the core lends memory: aligned to 64 bytes, with 64 readable bytes behind. Reading further ends the OS process.
class Borrowed {
 public:
  explicit Borrowed(const Tensor& tensor);
  ~Borrowed();
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

  wasinn_tensor view() const;
  // `bytes` must have the memory's size.
  void Write(const std::string& bytes);
  std::string Read() const;
  // From now on reading the memory ends the OS process.
  void Revoke();

 private:
  const Tensor tensor_;
  const size_t size_;  // of the pages and the one behind them
  char* const pages_;
  char* const data_;
};

// An output that was taken.
class Taken {
 public:
  Taken(Context* context, uint32_t index);
  ~Taken();
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;

  const Result& result() const { return result_; }
  wasinn_tensor view() const;
  Tensor Read() const;

 private:
  wasinn_tensor tensor_ = {.struct_size = sizeof(tensor_)};
  Result result_;
  std::vector<int64_t> dims_;
};

}  // namespace wasinn::check

#endif  // WASINN_CHECK_LENT_H_
