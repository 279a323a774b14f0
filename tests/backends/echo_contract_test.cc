// The contract, on the backend without a framework: it can be read as an example.
#include "backends/contract.h"

namespace wasinn::test {
namespace {

Subject Echo(const std::string& name, const std::string& rows, const std::string& more = "") {
  const std::vector<Port> ports = {{.name = "a", .dims = {std::stoi(rows), 2}},
                                   {.name = "b", .dims = {std::stoi(rows), 2}}};
  return {.name = name,
          .bytes = [=] { return "GGUFin a f32 " + rows + ",2\nin b f32 " + rows + ",2\n" + more; },
          .options = {.encoding = WASINN_GGML},
          .inputs = ports,
          .outputs = ports,
          .compute = InputsThemselves,
          .wants_outputs = true,
          .generates = true,
          .checks_inputs = false,
          .has_limits = false};
}

INSTANTIATE_TEST_SUITE_P(Echo, Contract, ::testing::Values(Echo("Fixed", "2"), Echo("Open", "-1")), NameOfSubject);
INSTANTIATE_TEST_SUITE_P(Echo, ContractOfShapes, ::testing::Values(Echo("Open", "-1")), NameOfSubject);

}  // namespace
}  // namespace wasinn::test
