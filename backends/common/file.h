// A file descriptor that is closed.
#pragma once

#include <unistd.h>

namespace wasinn::backend {

class File {
 public:
  File() = default;
  ~File() { Close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // Takes a descriptor over; negative: none.
  bool Open(int descriptor) {
    Close();
    descriptor_ = descriptor;
    return descriptor_ >= 0;
  }
  void Close() {
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = -1;
  }
  bool is_open() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

}  // namespace wasinn::backend
