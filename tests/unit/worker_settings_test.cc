// An operator's settings for workers: which guests share them, how they wait, and the control group that they join.
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "support/files.h"
#include "support/this_build.h"
#include "unit/isolated_program.h"

namespace wasinn::testing {
namespace {

class WorkerSettings : public Isolation {
 protected:
  HostPtr HostWith(const std::string& settings) {
    return EchoHost(
        log, settings + "spare_workers = false\nworker = \"" + WorkerFile() + "\"\n[policy]\nload = \"isolated\"\n");
  }
};

TEST_F(WorkerSettings, GuestsOfOneTenantShareTheirWorkers) {
  const HostPtr host = HostWith("");
  Program one(GuestOf(host.get(), "blue")), two(GuestOf(host.get(), "blue"));
  const uint32_t first = one.Open("in x f32 1\n"), second = two.Open("in x f32 2\n");
  ASSERT_NE(first, 0u);
  ASSERT_NE(second, 0u);
  EXPECT_THAT(KnownProcesses(), SizeIs(1));
  Program other(GuestOf(host.get(), "green")), alone(host.get());
  EXPECT_NE(other.Open("in x f32 1\n"), 0u);
  EXPECT_THAT(KnownProcesses(), SizeIs(2));
  EXPECT_NE(alone.Open("in x f32 1\n"), 0u);
  EXPECT_THAT(KnownProcesses(), SizeIs(3));
  EXPECT_EQ(one.Infer(first, {1}), std::vector<float>({1}));
  EXPECT_EQ(two.Infer(second, {1, 2}), (std::vector<float>{1, 2}));
}

TEST_F(WorkerSettings, EveryNamedModelIsIsolatedUnlessItSaysOtherwise) {
  const TestFolder folder;
  const std::string file = folder.Write("m.gguf", EchoModel("in x f32 1\n"));
  const auto models = [&](const char* name, const char* more) {
    return "[models." + std::string(name) + "]\npath = '" + file + "'\n" + more;
  };
  const std::string worker = "spare_workers = false\nworker = \"" + WorkerFile() + "\"\n";
  const std::string sections = models("says_nothing", "") + models("stays", "isolate = false\n");
  for (const bool isolates : {false, true}) {
    const HostPtr host = EchoHost(log, worker + (isolates ? "isolate_models = true\n" : "") + sections);
    AddEchoModel(host.get(), "by_the_api", "in x f32 1\n");
    Program program(host.get());
    size_t workers = 0;
    for (const char* name : {"stays", "says_nothing", "by_the_api"}) {
      EXPECT_EQ(program.Infer(program.NewContext(name), {4}), std::vector<float>({4})) << name;
      if (isolates && std::string_view(name) != "stays") ++workers;
      EXPECT_THAT(KnownProcesses(), SizeIs(workers)) << name;
    }
  }
}

TEST_F(WorkerSettings, TheEndOfAGuestLeavesTheOthersOfItsTenant) {
  const HostPtr host = HostWith("");
  Program stays(GuestOf(host.get(), "blue"));
  const uint32_t context = stays.Open("in x f32 1\n");
  const std::vector<pid_t> worker = KnownProcesses();
  {
    Program goes(GuestOf(host.get(), "blue"));
    EXPECT_NE(goes.Open("in x f32 1\nkeeps 1000\n"), 0u);
    wasinn_guest_close(goes.guest.get());
    EXPECT_EQ(goes.Stats().tensor_bytes, 0u);
  }
  EXPECT_EQ(stays.Infer(context, {3}), std::vector<float>({3}));
  EXPECT_EQ(KnownProcesses(), worker);
  stays.guest.reset();
  EXPECT_THAT(KnownProcesses(), IsEmpty());
}

TEST_F(WorkerSettings, ATenantsGuestsLoseTheirWorkerTogether) {
  const HostPtr host = HostWith("");
  Program one(GuestOf(host.get(), "blue")), two(GuestOf(host.get(), "blue")), other(GuestOf(host.get(), "green"));
  const uint32_t first = one.Open("in x f32 1\ndies compute\n"), second = two.Open("in x f32 1\n"),
                 third = other.Open("in x f32 1\n");
  EXPECT_TRUE(one.Infer(first, {1}).empty());
  EXPECT_TRUE(two.Infer(second, {1}).empty());
  EXPECT_EQ(other.Infer(third, {1}), std::vector<float>({1}));
  EXPECT_EQ(two.Infer(two.Open("in x f32 1\n"), {2}), std::vector<float>({2}));
}

TEST_F(WorkerSettings, AHostOfOneTenant) {
  const HostPtr host =
      EchoHost(log, "worker = \"" + WorkerFile() + "\"\n[policy]\nload = \"isolated\"\ntenant = \"all\"\n");
  Program one(host.get()), two(host.get());
  EXPECT_NE(one.Open("in x f32 1\n"), 0u);
  EXPECT_NE(two.Open("in x f32 1\n"), 0u);
  EXPECT_THAT(KnownProcesses(), SizeIs(1));
}

int64_t Sleeps() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

TEST_F(WorkerSettings, ASpinningHostDoesNotSleep) {
  const HostPtr host = HostWith("worker_spin_us = 60000000\n");
  Program program(host.get());
  const uint32_t context = program.Open("in x f32 1\n");
  // A host that does not spin sleeps each time. Something else may make this thread sleep once.
  for (int64_t before = -1; Sleeps() != before;) {
    before = Sleeps();
    for (int i = 0; i < 20; ++i) EXPECT_EQ(program.Infer(context, {2}), std::vector<float>({2}));
  }
}

TEST_F(WorkerSettings, AHostWhoseTimeToSpinIsOverSleeps) {
  const HostPtr host = HostWith("worker_spin_us = 1\n");
  Program program(host.get());
  const uint32_t context = program.Open("in x f32 1\ndelay 20\n");
  const int64_t before = Sleeps();
  EXPECT_EQ(program.Infer(context, {2}), std::vector<float>({2}));
  EXPECT_GT(Sleeps(), before);
}

TEST_F(WorkerSettings, AFolderThatIsNoControlGroup) {
  const HostPtr host = HostWith("workers_cgroup = \"/nowhere\"\n");
  Program program(host.get());
  EXPECT_EQ(program.Open("in x f32 1\n"), 0u);
  EXPECT_THAT(log.lines(), Contains(HasSubstr("workers cannot join the control group /nowhere: No such file or "
                                              "directory (workers_cgroup)")));
}

TEST_F(WorkerSettings, AFileOfThatNameMakesNoControlGroup) {
  const TestFolder folder;
  folder.Write("cgroup.procs", "");
  const HostPtr host = HostWith("workers_cgroup = \"" + folder.path().string() + "\"\n");
  Program program(host.get());
  EXPECT_EQ(program.Open("in x f32 1\n"), 0u) << "its limits would hold for no worker";
  EXPECT_THAT(log.lines(), Contains(HasSubstr(folder.path().string() + ": it is none (workers_cgroup)")));
}

// The controller of processes, of either version. One that cannot be made has no name.
class ControlGroup {
 public:
  ControlGroup() {
    for (const char* root : {"/sys/fs/cgroup/pids", "/sys/fs/cgroup"}) {
      folder_ = std::string(root) + "/wasinn-test-" + std::to_string(::getpid());
      std::error_code error;
      if (std::filesystem::create_directory(folder_, error) && std::filesystem::exists(folder_ + "/pids.max")) return;
      std::filesystem::remove(folder_, error);
    }
    folder_.clear();
  }
  // When its processes are gone.
  ~ControlGroup() {
    while (!folder_.empty() && ::rmdir(folder_.c_str()) != 0 && errno == EBUSY) ::usleep(1000);
  }
  ControlGroup(const ControlGroup&) = delete;
  ControlGroup& operator=(const ControlGroup&) = delete;

  const std::string& folder() const { return folder_; }
  void SetMostProcesses(const std::string& count) const { std::ofstream(folder_ + "/pids.max") << count; }
  std::vector<pid_t> Processes() const {
    std::vector<pid_t> pids;
    std::ifstream file(folder_ + "/cgroup.procs");
    for (pid_t pid = 0; file >> pid;) pids.push_back(pid);
    return pids;
  }

 private:
  std::string folder_;
};

TEST_F(WorkerSettings, WorkersJoinAControlGroup) {
  const ControlGroup group;
  if (group.folder().empty()) GTEST_SKIP() << "control groups of processes cannot be made here";
  const HostPtr host = HostWith("workers_cgroup = \"" + group.folder() + "\"\n");
  Program program(host.get());
  ASSERT_NE(program.Open("in x f32 1\n"), 0u);
  const std::vector<pid_t> workers = KnownProcesses();
  ASSERT_THAT(workers, SizeIs(1));
  EXPECT_THAT(group.Processes(), Contains(workers[0]));
  EXPECT_THAT(group.Processes(), SizeIs(2)) << "the template and its worker";
  group.SetMostProcesses("2");
  Program other(host.get());
  EXPECT_EQ(other.Open("in x f32 1\n"), 0u);
  EXPECT_THAT(log.lines(), Contains(HasSubstr("unavailable")));
  group.SetMostProcesses("max");
  EXPECT_NE(other.Open("in x f32 1\n"), 0u);
}

}  // namespace
}  // namespace wasinn::testing
