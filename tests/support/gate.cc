#include "support/gate.h"

namespace wasinn::testing {

namespace fs = std::filesystem;

void Gate::Await() const {
  while (!fs::exists(path() + ".reached")) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void Gate::Open() const { std::ofstream(path()).close(); }

void Gate::Close() const {
  fs::remove(path());
  fs::remove(path() + ".reached");
}

}  // namespace wasinn::testing
