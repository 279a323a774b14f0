// Files and connections: whose they are, and how many the system lets this program have open.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

namespace wasinn::serve {

// Closes a descriptor that nobody has taken.
class Unclaimed {
 public:
  explicit Unclaimed(int descriptor) : descriptor_(descriptor) {}
  ~Unclaimed() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Unclaimed(const Unclaimed&) = delete;
  Unclaimed& operator=(const Unclaimed&) = delete;
  void Claim() { descriptor_ = -1; }

 private:
  int descriptor_;
};

// As many as it may be given without anybody's leave.
inline int RaiseDescriptorLimit() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur, INT_MAX));
}

// Of these, those that connections leave to models and workers. The system gives the least number that is free, so that a connection has
// none of the last ones where one with such a number is closed.
inline int Reserved(int descriptors) { return std::min(512, descriptors / 4); }

}  // namespace wasinn::serve
