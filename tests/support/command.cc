#include "support/command.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

namespace wasinn::testing {
namespace {

// Output goes to an unnamed file rather than a pipe: a command that prints much cannot block on us.
std::string ReadAll(int file) {
  std::string text;
  std::array<char, 1 << 16> buffer;
  for (ssize_t n; (n = ::pread(file, buffer.data(), buffer.size(), static_cast<off_t>(text.size()))) > 0;) {
    text.append(buffer.data(), static_cast<size_t>(n));
  }
  return text;
}

std::vector<char*> Pointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  return pointers;
}

// If two variables have one name, the first one counts.
std::vector<char*> Environment(const std::vector<std::string>& added) {
  std::vector<char*> all = Pointers(added);
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const auto overrides = [&](const std::string& one) {
      return std::strncmp(one.c_str(), *variable, one.find('=') + 1) == 0;
    };
    if (std::ranges::none_of(added, overrides)) all.push_back(*variable);
  }
  all.push_back(nullptr);
  return all;
}

// Signals as in a user's shell: a shell that starts tests in the background ignores some of them.
pid_t Spawn(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
            const std::string& folder, const std::array<int, 3>& files) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int i = 0; i < 3; ++i) posix_spawn_file_actions_adddup2(&actions, files[static_cast<size_t>(i)], i);
  if (!folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> words = Pointers(argv);
  words.push_back(nullptr);
  std::ofstream("/proc/self/clear_refs") << 5;  // our peak of memory is none of the command's
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, words[0], &actions, &attributes, words.data(), Environment(environment).data());
  EXPECT_EQ(error, 0) << argv[0] << ": " << std::strerror(error);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? pid : -1;
}

}  // namespace

CommandResult RunCommand(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                         const std::string& folder) {
  return Child(argv, environment, folder).Wait();
}

Child::Child(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
             const std::string& folder)
    : output_(::memfd_create("stdout", MFD_CLOEXEC)), errors_(::memfd_create("stderr", MFD_CLOEXEC)) {
  ::signal(SIGPIPE, SIG_IGN);  // a child that ended is seen at its output
  std::array<int, 2> input = {-1, -1};
  EXPECT_EQ(::pipe2(input.data(), O_CLOEXEC), 0);
  input_ = input[1];
  pid_ = Spawn(argv, environment, folder, {input[0], output_, errors_});
  ::close(input[0]);
}

Child::~Child() {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
  Wait();
  ::close(output_);
  ::close(errors_);
}

void Child::Say(const std::string& line) const {
  const std::string text = line + "\n";
  EXPECT_EQ(::write(input_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

CommandResult Child::Wait() {
  CommandResult result;
  if (input_ >= 0) ::close(std::exchange(input_, -1));
  if (pid_ < 0) return result;
  int status = 0;
  rusage usage{};
  ::wait4(std::exchange(pid_, -1), &status, 0, &usage);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = ReadAll(output_);
  result.err = ReadAll(errors_);
  result.peak_bytes = static_cast<size_t>(usage.ru_maxrss) << 10;
  return result;
}

}  // namespace wasinn::testing
