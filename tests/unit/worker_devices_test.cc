// Workers that may use devices: those of guests whose policy says so, for models of target gpu or auto. Each stands
// in a sandbox of its own.
#include <csignal>

#include "support/files.h"
#include "support/this_build.h"
#include "unit/isolated_program.h"

namespace wasinn::testing {
namespace {

using ::testing::IsSupersetOf;

class WorkerDevices : public Isolation {
 protected:
  HostPtr HostWith(bool isolated_gpu, const std::string& more = "") {
    return EchoHost(log, "spare_workers = false\nworker = \"" + WorkerFile() +
                             "\"\n[policy]\nload = \"isolated\"\nisolated_gpu = " +
                             std::string(isolated_gpu ? "true" : "false") + "\n" + more);
  }
  // Loads a model for a target and makes a context of it; 0 after an error.
  static uint32_t Open(Program& program, wasinn_target target, std::string_view directives = "in x f32 1\n") {
    const std::string model = EchoModel(directives);
    const std::vector<uint32_t> builder = {program.Put(model), static_cast<uint32_t>(model.size())};
    const uint32_t builders = program.PutAll(builder), graph = program.Reserve(sizeof(uint32_t));
    if (program.Call("load", {builders, 1, kGgmlEncoding, static_cast<uint32_t>(target), graph}) != kSuccess) return 0;
    uint32_t context = 0;
    EXPECT_EQ(program.InitContext(program.Read<uint32_t>(graph), context), kSuccess);
    return context;
  }
};

TEST_F(WorkerDevices, AModelOfTheCpuHasAnotherWorker) {
  const HostPtr host = HostWith(true);
  Program program(host.get());
  const uint32_t on_cpu = Open(program, WASINN_TARGET_CPU);
  const std::vector<pid_t> first = KnownProcesses();
  EXPECT_THAT(first, SizeIs(1));
  const uint32_t anywhere = Open(program, WASINN_TARGET_AUTO);
  ASSERT_TRUE(on_cpu != 0 && anywhere != 0) << ::testing::PrintToString(log.lines());
  const std::vector<pid_t> both = KnownProcesses();
  EXPECT_THAT(both, SizeIs(2));
  EXPECT_THAT(both, IsSupersetOf(first));
  EXPECT_NE(Open(program, WASINN_TARGET_CPU, "in y f32 1\n"), 0u);
  EXPECT_NE(Open(program, WASINN_TARGET_AUTO, "in y f32 1\n"), 0u);
  EXPECT_THAT(KnownProcesses(), SizeIs(2));
  EXPECT_EQ(program.Infer(on_cpu, {1}), std::vector<float>({1}));
  EXPECT_EQ(program.Infer(anywhere, {2}), std::vector<float>({2}));
}

TEST_F(WorkerDevices, NoGuestMayUseThemByDefault) {
  const HostPtr host = HostWith(false);
  Program program(host.get());
  for (const wasinn_target target : {WASINN_TARGET_CPU, WASINN_TARGET_AUTO}) EXPECT_NE(Open(program, target), 0u);
  EXPECT_THAT(KnownProcesses(), SizeIs(1));
  EXPECT_EQ(Open(program, WASINN_TARGET_GPU), 0u);
  EXPECT_THAT(log.lines(), Contains(HasSubstr("echo has no gpu; models in workers can only use the CPU, unless "
                                              "policy.isolated_gpu is true")));
}

TEST_F(WorkerDevices, AMissingDeviceIsStillAnErrorOrTheCpu) {
  const HostPtr strict = HostWith(true), lax = HostWith(true, "cpu_fallback = true\n");
  Program refused(strict.get()), falls_back(lax.get());
  EXPECT_EQ(Open(refused, WASINN_TARGET_GPU), 0u);
  EXPECT_THAT(log.lines(), Contains(HasSubstr("echo has no gpu")));
  EXPECT_THAT(log.lines(), Not(Contains(HasSubstr("policy.isolated_gpu"))));
  EXPECT_EQ(falls_back.Infer(Open(falls_back, WASINN_TARGET_GPU), {3}), std::vector<float>({3}));
}

// A spare one would hold memory of the device, although no guest computes there.
TEST_F(WorkerDevices, HaveNoSpares) {
  const HostPtr host = Host("isolated_gpu = true\n");
  for (const wasinn_target target : {WASINN_TARGET_AUTO, WASINN_TARGET_CPU}) {
    for (int i = 0; i < 3; ++i) {
      Program program(host.get());
      EXPECT_NE(Open(program, target), 0u);
    }
    EXPECT_THAT(KnownProcesses(), SizeIs(target == WASINN_TARGET_CPU ? 1 : 0));
  }
}

// The policy is of each guest, a tenant's workers are of all its guests.
TEST_F(WorkerDevices, AreNotSharedWithATenantsOtherGuests) {
  const HostPtr host = HostWith(false);
  const auto guest = [&](bool isolated_gpu) {
    return NewGuest(host.get(), [&](wasinn_policy& policy) {
      EXPECT_FALSE(policy.isolated_gpu);
      policy.tenant = "blue";
      policy.isolated_gpu = isolated_gpu;
    });
  };
  Program with(guest(true)), without(guest(false)), with_too(guest(true));
  EXPECT_NE(Open(with, WASINN_TARGET_AUTO), 0u);
  EXPECT_THAT(KnownProcesses(), SizeIs(1));
  EXPECT_NE(Open(without, WASINN_TARGET_AUTO), 0u);
  EXPECT_THAT(KnownProcesses(), SizeIs(2));
  EXPECT_NE(Open(with_too, WASINN_TARGET_AUTO), 0u);
  EXPECT_THAT(KnownProcesses(), SizeIs(2));
}

TEST_F(WorkerDevices, OnlyTheWorkerThatWasKilledIsLost) {
  const HostPtr host = HostWith(true);
  Program program(host.get());
  const uint32_t anywhere = Open(program, WASINN_TARGET_AUTO);
  const std::vector<pid_t> first = KnownProcesses();
  ASSERT_THAT(first, SizeIs(1));
  const uint32_t on_cpu = Open(program, WASINN_TARGET_CPU);
  ASSERT_EQ(kill(first.front(), SIGKILL), 0);
  EXPECT_TRUE(program.Infer(anywhere, {1}).empty());
  EXPECT_THAT(log.lines(), Contains(HasSubstr("it was ended by signal 9 (Killed); load the model again")));
  EXPECT_EQ(program.Infer(on_cpu, {2}), std::vector<float>({2}));
  EXPECT_EQ(program.Infer(Open(program, WASINN_TARGET_AUTO), {3}), std::vector<float>({3}));
}

// By the host's policy.
TEST_F(WorkerDevices, ANamedModelMayUseThemToo) {
  const TestFolder folder;
  const std::string file = folder.Write("m.gguf", EchoModel("in x f32 1\n"));
  const auto model = [&](const char* name, const char* target) {
    return "[models." + std::string(name) + "]\npath = '" + file + "'\nisolate = true\ntarget = \"" + target + "\"\n";
  };
  for (const bool isolated_gpu : {false, true}) {
    const HostPtr host = HostWith(isolated_gpu, model("anywhere", "auto") + model("on_gpu", "gpu"));
    Program program(host.get());
    EXPECT_EQ(program.Infer(program.NewContext("anywhere"), {5}), std::vector<float>({5}));
    uint32_t graph = 0;
    EXPECT_EQ(program.LoadByName("on_gpu", graph), kUnsupportedOperation);
    const std::string said = log.Last();
    EXPECT_THAT(said, HasSubstr("echo has no gpu"));
    EXPECT_EQ(said.find("policy.isolated_gpu") == said.npos, isolated_gpu) << said;
  }
}

#ifdef WORKERS_HAVE_WALL
// The limit of descriptors shows which sandbox it is.
TEST_F(WorkerDevices, StandBehindAWallOfTheirOwn) {
  const auto most_descriptors = [](pid_t process) {
    std::ifstream limits("/proc/" + std::to_string(process) + "/limits");
    for (std::string line; std::getline(limits, line);) {
      if (line.starts_with("Max open files")) return std::stoul(line.substr(sizeof("Max open files")));
    }
    return 0ul;
  };
  const HostPtr host = HostWith(true);
  Program program(host.get());
  ASSERT_NE(Open(program, WASINN_TARGET_CPU), 0u);
  const std::vector<pid_t> first = KnownProcesses();
  ASSERT_NE(Open(program, WASINN_TARGET_AUTO), 0u);
  const std::vector<pid_t> both = KnownProcesses();
  EXPECT_THAT(both, SizeIs(2));
  for (const pid_t process : both) {
    const bool is_of_cpu = std::ranges::find(first, process) != first.end();
    EXPECT_EQ(most_descriptors(process), is_of_cpu ? 64u : 512u);
  }
}
#endif

}  // namespace
}  // namespace wasinn::testing
