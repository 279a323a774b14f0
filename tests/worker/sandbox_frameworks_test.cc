// Each framework in the sandbox: what it computes there is what it computes without, with the system calls that are left.
#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

#include "check/contract.h"
#include "check/failures.h"
#include "support/test.h"
#include "support/this_build.h"
#include "worker/backend.h"
#include "worker/child.h"
#include "worker/frameworks.h"
#include "worker/nobody.h"
#include "worker/sandbox.h"
#include "worker/sandbox_support.h"
#include "worker/self_status.h"

namespace wasinn::test {
namespace {

using worker::Sandbox;
using worker::SandboxOptions;

constexpr uint64_t kMebibyte = uint64_t{1} << 20;

using Work = std::function<void(const Backend& backend, const Bytes& model)>;

// Frameworks may take the number of processors as their number of threads.
void OnTwoProcessors() {
  cpu_set_t all, two;
  Require(sched_getaffinity(0, sizeof all, &all) == 0 && CPU_COUNT(&all) >= 2, "there are two processors");
  CPU_ZERO(&two);
  for (size_t i = 0; CPU_COUNT(&two) < 2; ++i) {
    if (CPU_ISSET(i, &all)) CPU_SET(i, &two);
  }
  Require(sched_setaffinity(0, sizeof two, &two) == 0, "two processors are enough");
}

void RequireThreads(const worker::SelfStatus& status, uint64_t count, const char* when) {
  Require(status.HasThreads(count),
          std::to_string(status.threads().value_or(0)) + " instead of " + std::to_string(count) + " threads " + when);
}

Ended WithoutWall(const Framework& framework, uint32_t threads, const Work& work) {
  return InChild([&] {
    OnTwoProcessors();
    for (const auto& [name, value] : worker::SandboxOptionsOf(framework.name).environment)
      setenv(name.c_str(), value.c_str(), 1);
    work(Backend(framework.backend, threads), Bytes(framework.model));
    return 0;
  });
}

// `work` comes when all is sealed, `first` before all.
Ended InSandbox(
    const Framework& framework, uint32_t threads, const SandboxOptions& options, const Work& work,
    const std::function<void()>& first = [] {}) {
  return InChild([&] {
    OnTwoProcessors();
    for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
    first();
    const Bytes warm_up(framework.warm_up), model(framework.model);
    const worker::SelfStatus status;  // while it can be opened
    Sandbox sandbox = Required(Sandbox::RaiseBeforeThreads(options));
    const Backend backend(framework.backend, threads);
    RequireThreads(status, framework.threads_open[threads - 1], "when it is open");
    backend.Compute(warm_up);
    RequireThreads(status, framework.threads[threads - 1], "after the warm-up");
    const auto sealed = sandbox.Seal(512 * kMebibyte);
    Require(sealed.has_value(), sealed ? "" : sealed.error());
    work(backend, model);
    return 0;
  });
}

SandboxOptions SandboxOptionsFor(const Framework& framework, bool has_exec_memory = true) {
  SandboxOptions options = worker::SandboxOptionsOf(framework.name, has_exec_memory);
  const std::string folder = framework.backend.substr(0, framework.backend.rfind('/'));
  for (const std::string& path : {folder, testing::InSources(".deps"), std::string("/usr/lib"), std::string("/lib"),
                                  std::string("/lib64"), std::string("/etc/ld.so.cache")}) {
    options.readable.push_back(path);
  }
  return options;
}

void PrintResult(const Backend& backend, const Bytes& model) { std::printf("result %zu\n", backend.Compute(model)); }

// All that backend.h promises: threads, cancelled computes, errors, limits. Some models keep a little less of it than those of the
// contract's own tests.
void RunContract(const Backend& backend, const Bytes& model) {
  check::Session session(backend.host(), model.Subject(backend.host()));
  std::atomic<int> broken = 0;
  for (const check::Check& check : check::Checks()) {
    std::atomic<bool> holds = true;
    check::OnFailure([&](const char*, int, const std::string& text) {
      std::printf("%s: %s\n", check.name, text.c_str());
      holds = false;
    });
    check.run(session);
    broken += holds ? 0 : 1;
  }
  Require(broken <= 1, "most of the contract holds");
}

// Without Landlock some are refused (SandboxRaised).
bool CanHaveWall(const Framework& framework) {
  return !worker::SandboxOptionsOf(framework.name).reads_when_sealed() || worker::FindSandboxSupport().landlock > 0;
}

void ExpectAsWithoutWall(const Framework& framework, uint32_t threads, const Work& work) {
  const Ended without = WithoutWall(framework, threads, work);
  const Ended behind = InSandbox(framework, threads, SandboxOptionsFor(framework), work);
  EXPECT_EQ(without.exit_code, 0) << without;
  EXPECT_EQ(behind.exit_code, 0) << behind;
  EXPECT_EQ(without.said, behind.said);
}

class SandboxBudgets : public ::testing::TestWithParam<std::tuple<Framework, uint32_t>> {
 protected:
  void SetUp() override {
    if (!CanHaveWall(std::get<0>(GetParam()))) GTEST_SKIP() << "this kernel has no Landlock";
  }
};

TEST_P(SandboxBudgets, ComputeAsWithoutWall) {
  const auto& [framework, threads] = GetParam();
  ExpectAsWithoutWall(framework, threads, PrintResult);
}

INSTANTIATE_TEST_SUITE_P(, SandboxBudgets,
                         ::testing::Combine(::testing::ValuesIn(Frameworks()), ::testing::Values(1, 2)),
                         [](const auto& one) {
                           const Framework& framework = std::get<0>(one.param);
                           return framework.name + "_" + framework.model.format + "_" +
                                  std::to_string(std::get<1>(one.param));
                         });

class SandboxFrameworks : public ::testing::TestWithParam<Framework> {
 protected:
  void SetUp() override {
    if (!CanHaveWall(GetParam())) GTEST_SKIP() << "this kernel has no Landlock";
  }
};

TEST_P(SandboxFrameworks, KeepTheirContract) {
  const Ended behind = InSandbox(GetParam(), 1, SandboxOptionsFor(GetParam()), RunContract);
  EXPECT_EQ(behind.exit_code, 0) << behind;
}

// Root's process becomes one without rights before it opens the framework.
TEST_P(SandboxFrameworks, ComputeAsTheUserNobody) {
  const Framework& framework = GetParam();
  const Ended reads = InChild([&] {
    BecomeNobody();
    return access(framework.backend.c_str(), R_OK);
  });
  if (reads.exit_code != 0) GTEST_SKIP() << "nobody may not read this build";
  const Ended ended = InSandbox(framework, 1, SandboxOptionsFor(framework), PrintResult, BecomeNobody);
  EXPECT_EQ(ended.exit_code, 0) << ended;
}

// As a template does that has opened the framework: its child raises the sandbox when the libraries are there already.
TEST_P(SandboxFrameworks, ServeAForkOfTheProcessThatOpenedThem) {
  const Framework& framework = GetParam();
  if (!framework.forks) return;
  const Ended ended = InChild([&] {
    OnTwoProcessors();
    SandboxOptions options = worker::SandboxOptionsOf(framework.name);
    for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
    const Bytes warm_up(framework.warm_up), model(framework.model);
    const Backend backend(framework.backend, 1);
    const std::string library = backend.host().info()->library;
    if (options.reads_when_sealed()) options.readable.push_back(library.substr(0, library.rfind('/')));
    // The libraries of OpenVINO's frontend for ONNX, which is opened at its first model, besides its folder and the
    // open ones.
    Require(dlopen("librt.so.1", RTLD_NOW) != nullptr, "there is librt");
    const Ended child = InChild([&] {
      Sandbox sandbox = Required(Sandbox::RaiseBeforeThreads(options));
      backend.Compute(warm_up);
      const auto sealed = sandbox.Seal(512 * kMebibyte);
      Require(sealed.has_value(), sealed ? "" : sealed.error());
      PrintResult(backend, model);
      std::fflush(nullptr);
      std::_Exit(0);  // its parent has what is to be closed
      return 0;
    });
    std::printf("%s", child.said.c_str());
    return child.exit_code;
  });
  EXPECT_EQ(ended.exit_code, 0) << ended;
  EXPECT_EQ(ended.said, WithoutWall(framework, 1, PrintResult).said);
}

// An update may make a system call superfluous: then it goes from the list.
TEST_P(SandboxFrameworks, HaveNothingThatIsNotNeeded) {
  const Framework& framework = GetParam();
  SandboxOptions whole = SandboxOptionsFor(framework);
  // oneDNN needs it, and is used by default only if the processor has AVX-512.
  if (framework.name == "tensorflow") whole.environment.emplace_back("TF_ENABLE_ONEDNN_OPTS", "1");
  const Ended ended = InSandbox(framework, 2, whole, PrintResult);
  for (size_t i = 0; i < whole.more_calls.size(); ++i) {
    SandboxOptions options = whole;
    options.more_calls.erase(options.more_calls.begin() + static_cast<ptrdiff_t>(i));
    const Ended without = InSandbox(framework, 2, options, PrintResult);
    EXPECT_TRUE(without.exit_code != 0 || without.said != ended.said) << whole.more_calls[i];
  }
  if (!whole.exec_memory) return;
  SandboxOptions options = whole;
  options.exec_memory = false;
  EXPECT_NE(InSandbox(framework, 2, options, PrintResult).exit_code, 0);
}

INSTANTIATE_TEST_SUITE_P(, SandboxFrameworks, ::testing::ValuesIn(Frameworks()),
                         [](const auto& one) { return one.param.name + "_" + one.param.model.format; });

// If memory cannot be made executable, they get an error, or need none.
TEST_P(SandboxFrameworks, ServeWithoutExecMemory) {
  const Framework& framework = GetParam();
  const SandboxOptions options = SandboxOptionsFor(framework, false);
  if (options.exec_memory) return;
  const Ended ended = InSandbox(framework, 2, options, PrintResult);
  EXPECT_EQ(ended.exit_code, 0) << ended;
}

}  // namespace
}  // namespace wasinn::test
