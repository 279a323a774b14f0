// The checks of check/contract.h as tests: a backend's test program says what they run on, and instantiates them.
#pragma once

#include "backends/test_host.h"
#include "check/contract.h"
#include "support/test.h"

namespace wasinn::test {

// Each check with each subject.
using OneCheck = std::tuple<Subject, Check>;
class Contract : public ::testing::TestWithParam<OneCheck> {
 protected:
  static void TearDownTestSuite();
};
class ContractOfShapes : public Contract {};

// A framework, and a model of it (framework_test.cc).
struct FrameworkCase {
  std::string name, install;  // that scripts/deps.sh knows
  Subject subject;
  std::optional<std::vector<std::string>> guest_keys;  // of the configuration; empty: they are not listed
  std::string no_device;                               // in the message about a missing device
};
inline void PrintTo(const FrameworkCase& framework, std::ostream* out) { *out << framework.name; }
class Framework : public ::testing::TestWithParam<FrameworkCase> {};

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
#define EXPECT_FRAMEWORK(backend, ...)                                                       \
  INSTANTIATE_TEST_SUITE_P(backend, Framework, ::testing::Values(FrameworkCase __VA_ARGS__), \
                           [](const auto&) { return std::string("Host"); })
#define CHECKS_OF_Contract ::wasinn::check::Checks
#define CHECKS_OF_ContractOfShapes ::wasinn::check::ChecksOfShapes
