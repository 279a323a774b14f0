#include "backends/crashes.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

constexpr const char* kWhich = "WASINN_TEST_TRIES";  // in a child: the number of what it tries
enum Ended : int { kRefused, kTaken, kFailed };

// A child must not fill the machine, nor compute for ever.
void Limit() {
  if (!testing::HasAddressSanitizer()) {  // which has reserved terabytes of addresses already
    const rlimit memory = {size_t{3} << 30, size_t{3} << 30};
    setrlimit(RLIMIT_AS, &memory);
    const rlimit seconds = {60, 60};
    setrlimit(RLIMIT_CPU, &seconds);
  }
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
}

// How the child ended that tried this one.
int Spawn(size_t which) {
  const ::testing::TestInfo& test = *::testing::UnitTest::GetInstance()->current_test_info();
  std::vector<std::string> words = {"/proc/self/exe",
                                    std::string("--gtest_filter=") + test.test_suite_name() + "." + test.name()};
  std::vector<std::string> variables = {std::string(kWhich) + "=" + std::to_string(which)};
  for (char** one = environ; *one != nullptr; ++one) {
    if (!std::string_view(*one).starts_with("GTEST_")) variables.emplace_back(*one);  // its results are not the test's
  }
  std::vector<char*> argv, envp;
  for (std::string& word : words) argv.push_back(word.data());
  for (std::string& variable : variables) envp.push_back(variable.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = posix_spawn(&child, argv[0], &files, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&files);
  EXPECT_EQ(failed, 0) << std::strerror(failed);
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace

void Crashes::Try(const std::string& name, const std::string& bytes) {
  const size_t which = tried_++;
  if (const char* mine = std::getenv(kWhich); mine != nullptr) {
    if (std::stoul(mine) != which) return;
    Limit();
    int ended = kFailed;
    try {
      ended = run_(bytes) ? kTaken : kRefused;
    } catch (...) {
    }
    _exit(ended);
  }
  const int status = Spawn(which);
  if (WIFSIGNALED(status)) return names_[strsignal(WTERMSIG(status))].push_back(name);
  if (WEXITSTATUS(status) > kTaken) return names_["an exception"].push_back(name);
  taken_ += WEXITSTATUS(status) == kTaken ? 1 : 0;
}

void Crashes::ExpectNone() const {
  for (const auto& [how, names] : names_) {
    ADD_FAILURE() << names.size() << " of " << tried_ << " end with " << how << ": " << ::testing::PrintToString(names);
  }
}

}  // namespace wasinn::test
