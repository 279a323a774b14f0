#include "worker/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "base/descriptor.h"
#include "worker/system_error.h"

namespace wasinn::worker {
namespace {

// As in today's linux/landlock.h: Debian 12's only has the first two versions. A kernel accepts a structure longer than
// its own if the rest is zero.
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

class Rules {
 public:
  explicit Rules(const Ruleset& all)
      : all_(all), set_(static_cast<int>(syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0))) {}
  bool is_made() const { return set_.is_open(); }

  std::expected<void, std::string> AllowReading(const std::string& path) const {
    return Allow(path, [](mode_t mode) -> uint64_t {
      return LANDLOCK_ACCESS_FS_READ_FILE | (S_ISDIR(mode) ? uint64_t{LANDLOCK_ACCESS_FS_READ_DIR} : 0);
    });
  }
  std::expected<void, std::string> AllowDevice(const std::string& path) const {
    return Allow(path, [this](mode_t mode) -> uint64_t {
      if (S_ISDIR(mode)) return LANDLOCK_ACCESS_FS_READ_DIR;
      if (!S_ISCHR(mode)) return 0;
      return LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | (all_.handled_access_fs & kIoctlOnDevices);
    });
  }
  std::expected<void, std::string> RestrictSelf() const {
    if (syscall(SYS_landlock_restrict_self, set_.number(), 0) == 0) return {};
    return SystemError("Landlock: cannot restrict this process");
  }

 private:
  // `access` returns the rights, by the file's mode.
  template <typename Access>
  std::expected<void, std::string> Allow(const std::string& path, const Access& access) const {
    const base::Descriptor file(open(path.c_str(), O_PATH | O_CLOEXEC));
    struct stat status = {};
    if (!file.is_open() || fstat(file.number(), &status) != 0) return {};
    landlock_path_beneath_attr rule = {};
    rule.allowed_access = access(status.st_mode);
    rule.parent_fd = file.number();
    if (rule.allowed_access == 0) return {};
    if (syscall(SYS_landlock_add_rule, set_.number(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0) return {};
    return SystemError("Landlock: cannot allow opening " + path);
  }

  const Ruleset all_;
  const base::Descriptor set_;
};

}  // namespace

int LandlockVersion() {
  const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return version < 0 ? 0 : static_cast<int>(version);
}

std::expected<void, std::string> DenyOutside(const std::vector<std::string>& readable,
                                             const std::vector<std::string>& devices) {
  const Rules rules(AllOf(LandlockVersion()));
  if (!rules.is_made()) return SystemError("Landlock: cannot make a set of rules");
  for (const std::string& path : readable) {
    if (auto allowed = rules.AllowReading(path); !allowed) return allowed;
  }
  for (const std::string& path : devices) {
    if (auto allowed = rules.AllowDevice(path); !allowed) return allowed;
  }
  return rules.RestrictSelf();
}

}  // namespace wasinn::worker
