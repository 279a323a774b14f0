// The contract, on the backend without a framework: it can be read as an example.
#include "backends/contract_test.h"

namespace wasinn::test {
namespace {

Subject Echo(const std::string& name, const std::string& rows, const std::string& flags = "") {
  const std::vector<Port> ports = {{.name = "a", .dims = {std::stoi(rows), 2}},
                                   {.name = "b", .dims = {std::stoi(rows), 2}}};
  return {
      .name = name,
      .bytes =
          [=] { return "GGUFin a f32 " + rows + ",2 " + flags + "\nin b f32 " + rows + ",2\nshares\nmemory npu:0\n"; },
      .options = {.encoding = "ggml"},
      .inputs = ports,
      .outputs = ports,
      .compute = InputsThemselves,
      .generates = true,
      .wants_outputs = true,
      .bindable = flags.empty() ? 0U : 1U,
      .shares_slots = true,
      .checks_inputs = false,
      .has_limits = false};
}

EXPECT_CONTRACT(Echo, Contract, Echo("Fixed", "2", "bindable"), Echo("Open", "-1"));
EXPECT_CONTRACT(Echo, ContractOfShapes, Echo("Open", "-1"));

}  // namespace
}  // namespace wasinn::test
