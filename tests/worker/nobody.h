// A process without rights.
#pragma once

#include <grp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <stdexcept>

namespace wasinn::test {

// As a service manager starts a service: as nobody, and no right can be got.
inline void BecomeNobody() {
  constexpr gid_t kNoGroup = 65534;
  constexpr uid_t kNobody = 65534;
  const bool is_nobody =
      geteuid() != 0 || (setgroups(0, nullptr) == 0 && setresgid(kNoGroup, kNoGroup, kNoGroup) == 0 &&
                         setresuid(kNobody, kNobody, kNobody) == 0);
  if (!is_nobody || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) throw std::runtime_error("cannot become nobody");
}

}  // namespace wasinn::test
