// Systems in which the sandbox works, and the errors in others.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "support/test.h"
#include "worker/nobody.h"
#include "worker/sandbox_support.h"
#include "worker/sealed.h"
#include "worker/without.h"

namespace wasinn::test {
namespace {

using worker::FindSandboxSupport;
using worker::Sandbox;
using worker::SandboxOptionsOf;
using worker::SandboxSupport;

void Must(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

std::string LineOfStatus(std::ifstream& status, const std::string& name) {
  status.clear();
  status.seekg(0);
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":")) return line.substr(name.size() + 1);
  }
  return "";
}

TEST(SandboxRaised, HoldsForTheUserNobody) {
  const Ended ended = InChild([] {
    BecomeNobody();
    auto sandbox = Sandbox::RaiseBeforeThreads({});
    if (!sandbox) throw std::runtime_error(sandbox.error());
    if (const auto sealed = sandbox->Seal(1 << 20); !sealed) throw std::runtime_error(sealed.error());
    return socket(AF_INET, SOCK_STREAM, 0) < 0 ? errno : 0;
  });
  EXPECT_EQ(ended.exit_code, EPERM) << ended;
}

TEST(SandboxRaised, LeavesNoRights) {
  const Ended ended = InChild([] {
    std::ifstream status("/proc/self/status"), adjusted("/proc/self/oom_score_adj");
    const auto sandbox = Sandbox::RaiseBeforeThreads({});
    Must(sandbox.has_value(), "it stands");
    for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"}) {
      Must(LineOfStatus(status, set).find_first_not_of("\t0") == std::string::npos, set);
    }
    Must(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0, "not dumpable");
    Must(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1, "no new privileges");
    rlimit limit = {};
    Must(getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_max == 0, "no core files");
    Must(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max == 64, "few descriptors");
    Must(getpriority(PRIO_PROCESS, 0) >= 10, "nice");
    int score = 0;
    Must(adjusted >> score && score == 1000, "the first to go");
    return 0;
  });
  EXPECT_EQ(ended.exit_code, 0) << ended;
}

TEST(SandboxRaised, StandsOnlyAroundOneThread) {
  const Ended ended = InChild([] {
    std::promise<void> tried;
    std::thread second([&] { tried.get_future().wait(); });
    const bool is_refused = !Sandbox::RaiseBeforeThreads({}).has_value();
    tried.set_value();
    second.join();
    return is_refused ? 0 : 1;
  });
  EXPECT_EQ(ended.exit_code, 0) << ended;
}

// Before the seal already.
TEST(SandboxRaised, DeniesFilesAndSignals) {
  if (FindSandboxSupport().landlock == 0) GTEST_SKIP() << "this kernel has no Landlock";
  const Ended ended = InChild([] {
    Must(Sandbox::RaiseBeforeThreads({.readable = {"/usr"}}).has_value(), "it stands");
    Must(std::fopen("/etc/passwd", "r") == nullptr && errno == EACCES, "what is not among the readable cannot be read");
    Must(std::ifstream("/usr/bin/env").is_open(), "what is can");
    Must(FindSandboxSupport().landlock < 6 || (kill(getppid(), 0) < 0 && errno == EPERM), "no signal leaves it");
    return 0;
  });
  EXPECT_EQ(ended.exit_code, 0) << ended;
}

TEST(SandboxRaised, NeedsNoLandlockIfNothingIsRead) {
  const Ended ended = InChild([] {
    Without("landlock_create_ruleset", ENOSYS);
    Must(FindSandboxSupport().landlock == 0, "there is none");
    const auto refused = Sandbox::RaiseBeforeThreads(SandboxOptionsOf("openvino"));
    Must(!refused && refused.error().find("Landlock") != std::string::npos, "OpenVINO is refused");
    auto sandbox = Sandbox::RaiseBeforeThreads(SandboxOptionsOf("onnx"));
    return sandbox && sandbox->Seal(0) ? 0 : 1;
  });
  EXPECT_EQ(ended.exit_code, 0) << ended;
}

TEST(SandboxRaised, SaysWhyItCannotBeSealed) {
  const Ended ended = InChild([] {
    auto sandbox = Sandbox::RaiseBeforeThreads({.more_calls = {"no_such_call"}});
    const auto sealed = sandbox->Seal(0);
    std::printf("%s\n", sealed ? "sealed" : sealed.error().c_str());
    return 0;
  });
  EXPECT_EQ(ended.said, "seccomp: no system call is named no_such_call: Invalid argument\n") << ended;
}

TEST(SandboxSupport, FindsWhatThisTestRunsOn) {
  const SandboxSupport support = FindSandboxSupport();
  EXPECT_TRUE(support.seccomp && support.no_new_privs && support.seals && support.exec_memory);
  EXPECT_EQ(support.Missing(SandboxOptionsOf("onnx")), "");
}

TEST(SandboxSupport, NamesWhatIsMissing) {
  EXPECT_EQ(SandboxSupport{}.Missing(SandboxOptionsOf("onnx")),
            "seccomp filters for all threads, no_new_privs, files in memory with seals");
  const SandboxSupport all = {
      .seccomp = true, .no_new_privs = true, .seals = true, .exec_memory = false, .landlock = 0};
  EXPECT_EQ(all.Missing(SandboxOptionsOf("openvino")), "writable memory that may become executable, Landlock");
  EXPECT_EQ(all.Missing(SandboxOptionsOf("tensorflow", false)), "");
}

TEST(SandboxSupport, FindsNothingWhereItIsRefused) {
  const Ended ended = InChild([] {
    Without("memfd_create", EPERM);
    Without("mprotect", EACCES);
    Without("seccomp", ENOSYS);
    const SandboxSupport support = FindSandboxSupport();
    return support.seccomp || support.seals || support.exec_memory ? 1 : 0;
  });
  EXPECT_EQ(ended.exit_code, 0) << ended;
}

}  // namespace
}  // namespace wasinn::test
