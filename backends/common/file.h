// A file descriptor that is closed.
#ifndef WASINN_BACKENDS_COMMON_FILE_H_
#define WASINN_BACKENDS_COMMON_FILE_H_

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

#endif  // WASINN_BACKENDS_COMMON_FILE_H_
