// Runs checks that may end their OS process, or never return: a child runs them one after the other, and a crash or a
// hang is the check's failure.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace wasinn::cli {

// For the child: reports that a check begins, fails (perhaps more than once), has nothing to check, ends.
class CheckReporter {
 public:
  explicit CheckReporter(int pipe) : pipe_(pipe) {}
  void Begin(size_t check) const { Say('+', std::to_string(check)); }
  void Fail(const std::string& text) const { Say('!', text); }
  void Nothing(const std::string& why) const { Say('~', why); }
  void End() const { Say('-', ""); }

 private:
  void Say(char what, std::string text) const;
  const int pipe_;
};

// The outcome of a check: it passed if both members are empty.
struct Outcome {
  std::vector<std::string> failures;
  std::string nothing;  // why there was nothing to check
};

struct ChildChecks {
  size_t count = 0;
  unsigned seconds = 0;  // for each check
  // In the child: runs the checks from `first` on.
  std::function<void(size_t first, const CheckReporter& reporter)> run;
  // In the parent, for each check. False: no further check should run.
  std::function<bool(size_t check, const Outcome& outcome)> done;
};

// Must be called while the OS process has one thread.
void RunInChildren(const ChildChecks& checks);

}  // namespace wasinn::cli
