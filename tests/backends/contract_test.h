// The checks of check/contract.h as tests: a backend's test program says what they run on, and instantiates them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "backends/test_host.h"
#include "check/contract.h"

namespace wasinn::test {

// Each check with each subject.
using OneCheck = std::tuple<Subject, Check>;
class Contract : public ::testing::TestWithParam<OneCheck> {
 protected:
  static void TearDownTestSuite();
};
class ContractOfShapes : public Contract {};

inline std::string NameOfCheck(const ::testing::TestParamInfo<OneCheck>& info) {
  return std::get<0>(info.param).name + "_" + std::get<1>(info.param).name;
}

}  // namespace wasinn::test

namespace wasinn::check {
inline void PrintTo(const Check& check, std::ostream* out) { *out << check.name; }
}  // namespace wasinn::check

// EXPECT_CONTRACT(Echo, Contract, subject…): of one of the two suites.
#define EXPECT_CONTRACT(backend, suite, ...)                                                                        \
  INSTANTIATE_TEST_SUITE_P(                                                                                         \
      backend, suite, ::testing::Combine(::testing::Values(__VA_ARGS__), ::testing::ValuesIn(CHECKS_OF_##suite())), \
      NameOfCheck)
#define CHECKS_OF_Contract ::wasinn::check::Checks
#define CHECKS_OF_ContractOfShapes ::wasinn::check::ChecksOfShapes
