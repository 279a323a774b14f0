#include "support/gate.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

namespace wasinn::testing {

namespace fs = std::filesystem;

Gate::Gate() : folder_((fs::path(::testing::TempDir()) / "wasinn-gate-XXXXXX").string()) {
  EXPECT_NE(::mkdtemp(folder_.data()), nullptr) << folder_;
}

Gate::~Gate() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void Gate::Await() const {
  while (!fs::exists(path() + ".reached")) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void Gate::Open() const { std::ofstream(path()).close(); }

void Gate::Close() const {
  fs::remove(path());
  fs::remove(path() + ".reached");
}

}  // namespace wasinn::testing
