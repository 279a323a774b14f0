// The contract, on OpenVINO, which computes models of ONNX as well as its own.
#include "backends/contract.h"
#include "backends/onnx_contract.h"
#include "backends/openvino_native.h"

namespace wasinn::test {
namespace {

Subject Ir() {
  Subject subject = OnnxSubject("Ir", 2);
  subject.bytes = [] { return IrXml("two_in_two_out"); };
  subject.options = IrOptions("two_in_two_out");
  return subject;
}

INSTANTIATE_TEST_SUITE_P(OpenVino, Contract,
                         ::testing::Values(Ir(), OnnxSubject("Open", -1), OnnxPassedOn("PassedOn", 2),
                                           OnnxPassedOn("PassedOnOpen", -1)),
                         NameOfSubject);
INSTANTIATE_TEST_SUITE_P(OpenVino, ContractOfShapes,
                         ::testing::Values(OnnxSubject("Open", -1), OnnxPassedOn("PassedOnOpen", -1)), NameOfSubject);

}  // namespace
}  // namespace wasinn::test
