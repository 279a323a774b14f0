// Checks that may end the OS process that runs them, or never return: a child runs them, one after the other, and what
// it does not survive is the check's failure.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace wasinn::cli {

// For the child: says that a check begins, fails (perhaps more than once), ends.
class Teller {
 public:
  explicit Teller(int pipe) : pipe_(pipe) {}
  void Begin(size_t check) const { Say('+', std::to_string(check)); }
  void Fail(const std::string& text) const { Say('!', text); }
  void End() const { Say('-', ""); }

 private:
  void Say(char what, std::string text) const;
  const int pipe_;
};

struct ChildChecks {
  size_t count = 0;
  unsigned seconds = 0;  // for each
  // In the child: runs the checks from `first` on.
  std::function<void(size_t first, const Teller& teller)> run;
  // In the parent, for each: its failures, none if it passed. False: no further one is to run.
  std::function<bool(size_t check, const std::vector<std::string>& failures)> done;
};

// Must be called while the OS process has one thread.
void RunInChildren(const ChildChecks& checks);

}  // namespace wasinn::cli
