#include "worker/sandbox_support.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "base/descriptor.h"
#include "worker/landlock.h"

namespace wasinn::worker {
namespace {

bool HasSeccomp() {
  uint32_t action = SECCOMP_RET_KILL_PROCESS;
  if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) != 0) return false;
  // A kernel that knows the flag then reads the filter, whose address is invalid.
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, nullptr) < 0 && errno == EFAULT;
}

bool HasSeals() {
  const base::Descriptor file(memfd_create("seals", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  return file.is_open() &&
         fcntl(file.number(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0;
}

bool HasExecMemory() {
  const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* page = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  const bool has = mprotect(page, size, PROT_READ | PROT_WRITE | PROT_EXEC) == 0;
  munmap(page, size);
  return has;
}

}  // namespace

std::string SandboxSupport::Missing(const SandboxOptions& options) const {
  std::string missing;
  const auto need = [&](bool is_there, const char* what) {
    if (!is_there) missing += (missing.empty() ? "" : ", ") + std::string(what);
  };
  need(seccomp, "seccomp filters for all threads");
  need(no_new_privs, "no_new_privs");
  need(seals, "files in memory with seals");
  need(exec_memory || !options.exec_memory, "writable memory that may become executable");
  need(landlock > 0 || !options.reads_when_sealed(), "Landlock");
  return missing;
}

SandboxSupport FindSandboxSupport() {
  return {.seccomp = HasSeccomp(),
          .no_new_privs = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) >= 0,
          .seals = HasSeals(),
          .exec_memory = HasExecMemory(),
          .landlock = LandlockVersion()};
}

}  // namespace wasinn::worker
