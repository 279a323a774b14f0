// A host with the model of plain guests.
#pragma once

#include "engines/any/plain_guest.h"
#include "support/test.h"

namespace wasinn::testing {

class PlainTest : public ::testing::Test {
 protected:
  PlainTest() {
    AddEchoModel(host_.get(), "model", kPlainModel);
    expected_ = NewGuest()->Infer();
    EXPECT_EQ(expected_.size(), place::kDataSize);
  }
  // A new guest with handles and one inference behind it.
  std::unique_ptr<PlainGuest> NewGuest() const { return std::make_unique<PlainGuest>(host_.get()); }

  Log log_;
  // Lest a guest that has 4 GiB loads a model of 4 GiB.
  const HostPtr host_ = EchoHost(log_, "limits.max_model_bytes = 1048576\nlimits.max_tensor_bytes = 16777216\n");
  std::string expected_;  // what an inference gives
};

}  // namespace wasinn::testing
