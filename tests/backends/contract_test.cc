#include "backends/contract_test.h"

namespace wasinn::test {
namespace {

// The framework is opened once for all checks of a suite, and each subject loaded once.
std::unique_ptr<Host> host;
std::map<std::string, std::unique_ptr<Session>> sessions;

void RunCheck(const OneCheck& one) {
  const auto& [subject, check] = one;
  if (host == nullptr) host = std::make_unique<Host>("{}", 2);
  std::unique_ptr<Session>& session = sessions[subject.name];
  if (session == nullptr) session = std::make_unique<Session>(*host, subject);
  check.run(*session);
}

}  // namespace

void Contract::TearDownTestSuite() {
  sessions.clear();
  host.reset();
}

// Not all subjects take other shapes.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ContractOfShapes);

TEST_P(Contract, Holds) { RunCheck(GetParam()); }
TEST_P(ContractOfShapes, Holds) { RunCheck(GetParam()); }

}  // namespace wasinn::test
