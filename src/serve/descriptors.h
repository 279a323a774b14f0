// Files and connections: their owners, and the system's limit of open ones for this program.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

namespace wasinn::serve {

// Closes a descriptor unless it is taken.
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

// To the highest limit that needs no privilege.
inline int RaiseDescriptorLimit() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur, INT_MAX));
}

// The number that connections leave to models and workers. The system gives the lowest free number, so a connection
// gets none of the last ones if connections with such numbers are closed.
inline int Reserved(int descriptors) { return std::min(512, descriptors / 4); }

}  // namespace wasinn::serve
