#include "hostile/descendants.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace wasinn::testing {
namespace {

// Parents by their children's numbers.
std::map<pid_t, pid_t> Parents() {
  std::map<pid_t, pid_t> parents;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (!std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; })) continue;
    std::ifstream file(entry.path() / "stat");
    std::string line;
    std::getline(file, line);
    // "42 (its name) S 1 …"; one that is gone by now has no line.
    const size_t end_of_name = line.rfind(") ");
    if (end_of_name == line.npos) continue;
    parents[std::atoi(name.c_str())] = std::atoi(line.c_str() + end_of_name + 4);
  }
  return parents;
}

}  // namespace

void AdoptDescendants() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

Descendants CountDescendants() {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  const std::map<pid_t, pid_t> parents = Parents();
  const pid_t own = ::getpid();
  Descendants count;
  for (const auto& [child, parent] : parents) {
    const auto of_parent = parents.find(parent);
    if (parent == own) ++count.templates;
    if (of_parent != parents.end() && of_parent->second == own) ++count.workers;
  }
  return count;
}

}  // namespace wasinn::testing
