// Pickles of an attacker.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "torch/pickle_scan.h"

namespace wasinn::torch {
namespace {

wasinn_code Scan(std::string_view pickle) {
  // Exactly as long as the pickle, so that a sanitizer sees a read past its end.
  const std::vector<uint8_t> copy(pickle.begin(), pickle.end());
  try {
    ScanPickle("data.pkl", copy);
    return WASINN_OK;
  } catch (const backend::Error& error) {
    return error.code();
  }
}

using namespace std::string_view_literals;  // NOLINT(google-build-using-namespace)

TEST(TorchPickle, AMemoIsNoLargerThanItsPickle) {
  EXPECT_EQ(Scan("\x80\x02Nq\0q\1h\1."sv), WASINN_OK);
  // Ten bytes that would ask PyTorch for 256 MB.
  EXPECT_EQ(Scan("\x80\x02Nr\xff\xff\xff\0."sv), WASINN_INVALID_ENCODING);
  EXPECT_EQ(Scan("\x80\x02Nr\xff\xff\xff\xff."sv), WASINN_INVALID_ENCODING);
}

TEST(TorchPickle, WhatIsMissingIsAnError) {
  for (const std::string_view pickle : {""sv, "\x80"sv, "N"sv, "q\0."sv, "Nh\0."sv, "t."sv, "a."sv,
                                        "X\xff\xff\xff\xff."sv, "\x8a\xff."sv, "c__torch__"sv, "?."sv}) {
    EXPECT_EQ(Scan(pickle), WASINN_INVALID_ENCODING) << std::string(pickle);
  }
  EXPECT_EQ(Scan("cos\nsystem\n."), WASINN_SECURITY);
  EXPECT_EQ(Scan("N" + std::string(10'000, '\x85') + "."), WASINN_SECURITY);
}

}  // namespace
}  // namespace wasinn::torch
