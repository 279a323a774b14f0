#include "worker/sandbox.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "worker/landlock.h"
#include "worker/limits.h"
#include "worker/system_calls.h"
#include "worker/system_error.h"
#include "worker/threads_limit.h"

namespace wasinn::worker {
namespace {

using Done = std::expected<void, std::string>;

// Even if root runs the worker: with capabilities it could raise its limits again.
Done DropCapabilities() {
  __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  const std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none = {};
  if (syscall(SYS_capset, &header, none.data()) != 0) return SystemError("cannot drop capabilities");
  return {};
}

Done DropPrivileges() {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return SystemError("cannot set no_new_privs");
  if (auto dropped = DropCapabilities(); !dropped) return dropped;
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return SystemError("cannot set PR_SET_DUMPABLE");
  return {};
}

Done Restrict(const SandboxOptions& options) {
  if (LandlockVersion() > 0) return DenyOutside(options.readable, options.devices);
  if (options.reads_when_sealed())
    return std::unexpected("a framework that reads files in the sandbox needs Landlock, which is not here");
  return {};
}

}  // namespace

std::expected<Sandbox, std::string> Sandbox::RaiseBeforeThreads(SandboxOptions options) {
  // Before /proc shows this process as root's, and before files are denied.
  SelfStatus status;
  if (!status.is_open()) return SystemError("cannot open /proc/self/status");
  if (!status.HasThreads(1)) return std::unexpected("there is a second thread, which would be outside of the sandbox");
  Done raised = LimitSelf(options.most_descriptors);
  if (!raised) return std::unexpected(raised.error());
  const auto apart = CountThreadsApart();
  if (!apart) return std::unexpected(apart.error());
  raised = DropPrivileges();
  if (raised) raised = Restrict(options);
  if (!raised) return std::unexpected(raised.error());
  return Sandbox(std::move(options), std::move(status), *apart);
}

std::expected<void, std::string> Sandbox::Seal(uint64_t max_bytes) {
  if (auto limited = LimitFiles(options_.file_bytes); !limited) return limited;
  if (counted_apart_) {
    if (auto limited = LimitThreads(status_, max_bytes); !limited) return limited;
  }
  if (max_bytes != 0) {
    const uint64_t more = max_bytes + options_.stack_bytes + options_.driver_bytes;
    if (auto limited = LimitMemory(status_, more); !limited) return limited;
    if (!options_.has_devices) {
      if (auto limited = LimitAddresses(status_, more); !limited) return limited;
    }
  }
  status_.Close();
  return FilterSystemCalls(options_);
}

}  // namespace wasinn::worker
