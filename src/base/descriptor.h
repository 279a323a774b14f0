// A file descriptor that is closed at the end of its scope.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

namespace wasinn::base {

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (is_open()) ::close(number_);
  }
  // `number` is the result of a call that may have failed. A host that was started without standard files gets their
  // numbers for its next descriptors, and everything that is printed would go to a worker.
  static Descriptor NoStandardOne(int number) {
    Descriptor given(number);
    if (number < 0 || number > STDERR_FILENO) return given;
    return Descriptor(::fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  }

  // Closes this one and takes `number`. False: `number` is no descriptor.
  bool Open(int number) {
    *this = Descriptor(number);
    return is_open();
  }
  void Close() { *this = Descriptor(); }
  // The caller closes it.
  int Release() { return std::exchange(number_, -1); }

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

// False: not all bytes could be written.
inline bool WriteAll(int number, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(number, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace wasinn::base
