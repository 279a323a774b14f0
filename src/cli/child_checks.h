// Checks that may end the OS process that runs them, or never return: a child runs them, one after the other, and what
// it does not survive is the check's failure.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace wasinn::cli {

// For the child: says that a check begins, fails (perhaps more than once), finds nothing to look at, ends.
class Teller {
 public:
  explicit Teller(int pipe) : pipe_(pipe) {}
  void Begin(size_t check) const { Say('+', std::to_string(check)); }
  void Fail(const std::string& text) const { Say('!', text); }
  void Nothing(const std::string& why) const { Say('~', why); }
  void End() const { Say('-', ""); }

 private:
  void Say(char what, std::string text) const;
  const int pipe_;
};

// How a check ended: it passed where neither is said.
struct Outcome {
  std::vector<std::string> failures;
  std::string nothing;  // why there was nothing to look at
};

struct ChildChecks {
  size_t count = 0;
  unsigned seconds = 0;  // for each
  // In the child: runs the checks from `first` on.
  std::function<void(size_t first, const Teller& teller)> run;
  // In the parent, for each. False: no further one is to run.
  std::function<bool(size_t check, const Outcome& outcome)> done;
};

// Must be called while the OS process has one thread.
void RunInChildren(const ChildChecks& checks);

}  // namespace wasinn::cli
