#include "backends/crashes.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include "support/this_build.h"

namespace wasinn::test {
namespace {

constexpr unsigned kSecondsOfOne = 20;

// Of a child, which must not fill the machine.
void Limit() {
  if (!testing::HasAddressSanitizer()) {  // which has reserved terabytes of addresses already
    const rlimit memory = {size_t{4} << 30, size_t{4} << 30};
    setrlimit(RLIMIT_AS, &memory);
  }
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
}

}  // namespace

// What children tell: written before a model may end them.
struct Crashes::Progress {
  size_t next, loaded;
};

int Crashes::EndOf(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    Limit();
    int ended = 0;
    try {
      work();
    } catch (...) {
      ended = 1;
    }
    _exit(ended);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

void Crashes::Try(const std::string& name, const std::string& bytes) {
  TryAll({{name, bytes}}, [] {});
}

void Crashes::TryAll(const std::vector<Named>& models, const std::function<void()>& start) {
  void* shared = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* progress = new (shared) Progress();
  const auto work = [&] {
    alarm(kSecondsOfOne);
    start();
    while (progress->next < models.size()) {
      alarm(kSecondsOfOne);
      progress->loaded += run_(models[progress->next].bytes) ? 1 : 0;
      ++progress->next;
    }
  };
  while (progress->next < models.size()) {
    if (const int signal = EndOf(work); signal != 0) {
      names_[signal].push_back(models[progress->next++].name);
    }
  }
  tried_ += models.size();
  loaded_ += progress->loaded;
  munmap(shared, sizeof(Progress));
}

void Crashes::ExpectNone() const {
  for (const auto& [signal, names] : names_) {
    ADD_FAILURE() << names.size() << " of " << tried_ << " end with " << strsignal(signal) << ": "
                  << ::testing::PrintToString(names);
  }
}

}  // namespace wasinn::test
