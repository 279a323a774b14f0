// What the tests of hostile memory share: each runs with the echo backend and, where it was built, with ONNX Runtime.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "engines/any/plain_guest.h"

namespace wasinn::testing {

class PlainTest : public ::testing::TestWithParam<const char*> {
 protected:
  PlainTest();
  bool is_echo() const { return std::string(GetParam()) == "echo"; }
  // A new guest with handles and one inference behind it.
  std::unique_ptr<PlainGuest> NewGuest() const { return std::make_unique<PlainGuest>(host_.get(), model_); }

  Log log_;
  PlainModel model_;
  HostPtr host_;
  std::string expected_;  // what an inference gives
};

std::vector<const char*> PlainBackends();
std::string BackendName(const ::testing::TestParamInfo<const char*>& info);

}  // namespace wasinn::testing
