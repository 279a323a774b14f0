// The contract, on ONNX Runtime.
#include "backends/onnx_contract.h"
#include "backends/contract.h"

namespace wasinn::test {
namespace {

INSTANTIATE_TEST_SUITE_P(Onnx, Contract,
                         ::testing::Values(OnnxSubject("Fixed", 2), OnnxSubject("Open", -1),
                                           OnnxPassedOn("PassedOn", 2), OnnxPassedOn("PassedOnOpen", -1)),
                         NameOfSubject);
INSTANTIATE_TEST_SUITE_P(Onnx, ContractOfShapes,
                         ::testing::Values(OnnxSubject("Open", -1), OnnxPassedOn("PassedOnOpen", -1)), NameOfSubject);

}  // namespace
}  // namespace wasinn::test
