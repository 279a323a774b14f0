// A kernel, or a container, that lacks something.
#pragma once

#include <seccomp.h>

#include <cstdint>
#include <stdexcept>

namespace wasinn::test {

// As a kernel without this system call, or a container's filter, answers. For this OS process, for good.
inline void Without(const char* call, int error) {
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  const int number = seccomp_syscall_resolve_name(call);
  const bool is_loaded = seccomp_rule_add(filter, SCMP_ACT_ERRNO(static_cast<uint16_t>(error)), number, 0) == 0 &&
                         seccomp_load(filter) == 0;
  seccomp_release(filter);
  if (!is_loaded) throw std::runtime_error(call);
}

}  // namespace wasinn::test
