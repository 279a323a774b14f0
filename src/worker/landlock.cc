#include "worker/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "worker/descriptor.h"
#include "worker/system_error.h"

namespace wasinn::worker {
namespace {

// As linux/landlock.h has it today: that of a Debian 12 knows the first two versions only. A kernel takes a structure longer than its
// own if the rest is zero.
struct Ruleset {
  uint64_t handled_access_fs, handled_access_net, scoped;
};
constexpr uint64_t kExecuteToMakeSym = (uint64_t{1} << 13) - 1;  // all of version 1
constexpr uint64_t kRefer = uint64_t{1} << 13;                   // version 2
constexpr uint64_t kTruncate = uint64_t{1} << 14;                // version 3
constexpr uint64_t kIoctlOnDevices = uint64_t{1} << 15;          // version 5
constexpr uint64_t kBindAndConnectTcp = 3;                       // version 4
constexpr uint64_t kAbstractSocketsAndSignals = 3;               // version 6

Ruleset AllOf(int version) {
  Ruleset all = {.handled_access_fs = kExecuteToMakeSym, .handled_access_net = 0, .scoped = 0};
  if (version >= 2) all.handled_access_fs |= kRefer;
  if (version >= 3) all.handled_access_fs |= kTruncate;
  if (version >= 4) all.handled_access_net = kBindAndConnectTcp;
  if (version >= 5) all.handled_access_fs |= kIoctlOnDevices;
  if (version >= 6) all.scoped = kAbstractSocketsAndSignals;
  return all;
}

std::expected<void, std::string> AllowReading(int ruleset, const std::string& path) {
  const Descriptor file(open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat status = {};
  if (!file.is_open() || fstat(file.number(), &status) != 0) return {};
  landlock_path_beneath_attr rule = {};
  rule.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE;
  if (S_ISDIR(status.st_mode)) rule.allowed_access |= LANDLOCK_ACCESS_FS_READ_DIR;
  rule.parent_fd = file.number();
  if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0) return {};
  return SystemError("Landlock: cannot allow reading of " + path);
}

}  // namespace

int LandlockVersion() {
  const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return version < 0 ? 0 : static_cast<int>(version);
}

std::expected<void, std::string> DenyOutside(const std::vector<std::string>& readable) {
  const Ruleset all = AllOf(LandlockVersion());
  const Descriptor ruleset(static_cast<int>(syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0)));
  if (!ruleset.is_open()) return SystemError("Landlock: cannot make a set of rules");
  for (const std::string& path : readable) {
    if (auto allowed = AllowReading(ruleset.number(), path); !allowed) return allowed;
  }
  if (syscall(SYS_landlock_restrict_self, ruleset.number(), 0) == 0) return {};
  return SystemError("Landlock: cannot restrict this process");
}

}  // namespace wasinn::worker
