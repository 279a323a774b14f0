// Pickles and code of an attacker.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "torch/code_scan.h"
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

wasinn_code ScanText(const std::string& text) {
  const std::vector<char> copy(text.begin(), text.end());
  try {
    ScanCode("code/model.py", {copy.data(), copy.size()});
    return WASINN_OK;
  } catch (const backend::Error& error) {
    return error.code();
  }
}

std::string Times(size_t count, const std::string& text) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
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

// As PyTorch's lexer and parser read it, which call themselves for each of these.
TEST(TorchCode, WhatWouldExhaustAStack) {
  EXPECT_EQ(ScanText("x = " + Times(500, "(") + "1" + Times(500, ")") + "\n"), WASINN_OK);
  EXPECT_EQ(ScanText("x = " + Times(501, "(")), WASINN_SECURITY);
  EXPECT_EQ(ScanText("# comments (" + Times(501, "(") + "\n"), WASINN_OK);
  EXPECT_EQ(ScanText("def f(x):\n  # type: (" + Times(501, "(") + "\n"), WASINN_SECURITY);
  EXPECT_EQ(ScanText("x = '# type: ('\n"), WASINN_OK);
  EXPECT_EQ(ScanText("x = 1\n" + Times(10'000, "\n") + "y = 1\n" + Times(10'000, "  # nothing\n") + "z = 1\n"),
            WASINN_OK);
  for (const char* line : {"\n", " \n", "# nothing\n", "\f\n"})
    EXPECT_EQ(ScanText(Times(10'001, line)), WASINN_SECURITY);
  EXPECT_EQ(ScanText("x = 1 + \\\n  1\n"), WASINN_SECURITY);
  EXPECT_EQ(ScanText("x = 'a\\\\b'\n"), WASINN_OK);
  EXPECT_EQ(ScanText("if a:\n  pass\n" + Times(1000, "elif b:\n  pass\n")), WASINN_OK);
  EXPECT_EQ(ScanText("if a:\n  pass\n" + Times(1001, "elif b:\n  pass\n")), WASINN_SECURITY);
  for (const char* space : {" ", "\t", "\f"}) {
    EXPECT_EQ(ScanText(Times(400, space) + "pass\n"), WASINN_OK);
    EXPECT_EQ(ScanText(Times(401, space) + "pass\n"), WASINN_SECURITY);
  }
  EXPECT_EQ(ScanText("x = " + Times(60'000, "1 + ") + "1\n"), WASINN_OK);
  EXPECT_EQ(ScanText("x = " + Times(70'000, "1 + ") + "1\n"), WASINN_SECURITY);
}

}  // namespace
}  // namespace wasinn::torch
