#include "faults/processes.h"

#include <poll.h>
#include <sys/syscall.h>

#include <csignal>

#include "support/this_build.h"

namespace wasinn::testing {
namespace {

namespace fs = std::filesystem;

// Empty if a process ended in the meantime: it may do so after its file was opened, and then the stream's buffer throws. By the stream's own
// operator that is a failed read.
std::string ReadWhatIsThere(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream read;
  read << file.rdbuf();
  return std::move(read).str();
}

// 0 where there is no such process any more.
pid_t ParentOf(pid_t process) {
  const std::string stat = ReadWhatIsThere("/proc/" + std::to_string(process) + "/stat");
  const size_t name_end = stat.rfind(')');  // then come a state and the parent
  return name_end == std::string::npos ? 0 : std::stoi(stat.substr(name_end + 4));
}

std::vector<pid_t> AllProcesses() {
  std::vector<pid_t> all;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; })) all.push_back(std::stoi(name));
  }
  return all;
}

}  // namespace

WorkerName::WorkerName() : path_(folder_ / "wasinn-worker") { fs::create_symlink(WorkerFile(), path_); }

std::vector<pid_t> WorkerName::Find(bool workers) const {
  std::vector<pid_t> all;
  for (const pid_t process : AllProcesses()) {
    if (ReadWhatIsThere("/proc/" + std::to_string(process) + "/cmdline").starts_with(path_ + '\0'))
      all.push_back(process);
  }
  std::vector<pid_t> found;
  std::ranges::copy_if(all, std::back_inserter(found), [&](pid_t process) {
    return (std::ranges::find(all, ParentOf(process)) != all.end()) == workers;
  });
  return found;
}

void Kill(pid_t process) {
  const int fd = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
  if (fd < 0) return;
  ::kill(process, SIGKILL);
  pollfd ended{.fd = fd, .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&ended, 1, -1), 1);
  ::close(fd);
}

size_t CountChildren(pid_t process) {
  const std::vector<pid_t> all = AllProcesses();
  return static_cast<size_t>(std::ranges::count(all, process, ParentOf));
}

}  // namespace wasinn::testing
