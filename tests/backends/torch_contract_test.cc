// The contract, on PyTorch. A module says neither types nor shapes.
#include "backends/contract_test.h"
#include "backends/torch_models.h"

namespace wasinn::test {
namespace {

Subject Torch(const std::string& name, const std::string& outputs,
              std::vector<Tensor> (*compute)(const std::vector<Tensor>&)) {
  const auto untold = [](const char* port) {
    return Port{.name = port, .dtype = WASINN_DTYPE_UNKNOWN, .any_rank = true};
  };
  return {.name = name,
          .bytes = [=] { return TorchModel("def forward(self, a, b):\n    return " + outputs + "\n"); },
          .options = TorchOptions(),
          .inputs = {untold("a"), untold("b")},
          .outputs = {untold("0"), untold("1")},
          .compute = compute};
}

const Subject kOpen = Torch("Open", "a - b, a + b", DifferenceAndSum);

EXPECT_CONTRACT(Torch, Contract, kOpen, Torch("PassedOn", "a, b", InputsThemselves));
EXPECT_CONTRACT(Torch, ContractOfShapes, kOpen);
EXPECT_FRAMEWORK(Torch,
                 {.name = "PyTorch", .install = "torch", .subject = kOpen, .guest_keys = {{}}, .no_device = "PyTorch"});

}  // namespace
}  // namespace wasinn::test
