// Inputs that must not end the process that takes them: each is tried in a child process.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace wasinn::test {

// A child is this program again: it runs the same test up to the code that it tries, and ends there.
class Crashes {
 public:
  // Takes it, or refuses it. True: it was taken.
  using Run = std::function<bool(const std::string& bytes)>;

  explicit Crashes(Run run) : run_(std::move(run)) {}

  void Try(const std::string& name, const std::string& bytes);
  // Fails the test for each that ended its child, by a signal or an exception.
  void ExpectNone() const;

  // The number of all that were tried.
  size_t tried() const { return tried_; }
  size_t taken() const { return taken_; }

 private:
  const Run run_;
  size_t tried_ = 0, taken_ = 0;
  std::map<std::string, std::vector<std::string>> names_;  // by how the child ended
};

}  // namespace wasinn::test
