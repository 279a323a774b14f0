#include "bench/soak/processes.h"

#include <malloc.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>

namespace wasinn::soak {
namespace {

namespace fs = std::filesystem;

// Returns "" if the process has ended.
std::string Read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// Returns nothing if the process has ended.
std::optional<Process> Look(pid_t pid) {
  const std::string stat = Read(fs::path("/proc") / std::to_string(pid) / "stat");
  const size_t name_ends = stat.rfind(')');  // a name may have spaces and brackets
  if (name_ends == stat.npos) return std::nullopt;
  std::istringstream fields(stat.substr(name_ends + 1));
  Process process{.pid = pid};
  char state = 0;
  fields >> state >> process.parent;
  process.has_ended = state == 'Z';
  constexpr int kParent = 4, kRss = 24;
  std::string skipped;
  for (int i = kParent + 1; i < kRss; ++i) fields >> skipped;
  fields >> process.rss_kib;
  process.rss_kib *= static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)) / 1024;
  return process;
}

std::vector<Process> LookAtAll() {
  std::vector<Process> all;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != name.npos) continue;
    if (const auto process = Look(static_cast<pid_t>(std::stol(name)))) all.push_back(*process);
  }
  return all;
}

bool StartedAs(const Process& process, const std::string& program) {
  const std::string line = Read(fs::path("/proc") / std::to_string(process.pid) / "cmdline");
  return std::string_view(line).substr(0, line.find('\0')) == program;
}

bool Has(const std::vector<Process>& processes, pid_t pid) {
  return std::ranges::find(processes, pid, &Process::pid) != processes.end();
}

}  // namespace

Self LookAtSelf() {
  Self self;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) self.rss_kib = std::stoull(line.substr(6));
    if (line.starts_with("Threads:")) self.threads = std::stoull(line.substr(8));
  }
  // Does not count the descriptor by which the folder is read.
  const fs::directory_iterator descriptors("/proc/self/fd");
  self.descriptors = static_cast<uint64_t>(std::distance(begin(descriptors), end(descriptors))) - 1;
  const struct mallinfo2 heap = ::mallinfo2();
  self.heap_kib = (heap.uordblks + heap.hblkhd) / 1024;
  return self;
}

Workers FindWorkers(const std::string& program) {
  const std::vector<Process> all = LookAtAll();
  std::vector<Process> ours;
  std::ranges::copy_if(all, std::back_inserter(ours), [&](const Process& one) { return StartedAs(one, program); });
  Workers found;
  // A worker that was forked off a template also has the template's command line.
  std::ranges::copy_if(ours, std::back_inserter(found.templates),
                       [&](const Process& one) { return !Has(ours, one.parent); });
  std::ranges::copy_if(all, std::back_inserter(found.workers),
                       [&](const Process& one) { return Has(found.templates, one.parent); });
  return found;
}

bool KillOne(const std::string& program, std::mt19937_64& random) {
  std::vector<Process> workers = FindWorkers(program).workers;
  std::erase_if(workers, [](const Process& one) { return one.has_ended; });
  if (workers.empty()) return false;
  const Process chosen = workers[random() % workers.size()];
  // Opens a descriptor first, and checks that it is still the same process: the number can be another's by now.
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, chosen.pid, 0));
  if (process < 0) return false;
  const auto now = Look(chosen.pid);
  const bool same = now && now->parent == chosen.parent && !now->has_ended;
  const bool killed = same && ::syscall(SYS_pidfd_send_signal, process, SIGKILL, nullptr, 0) == 0;
  ::close(process);
  return killed;
}

}  // namespace wasinn::soak
