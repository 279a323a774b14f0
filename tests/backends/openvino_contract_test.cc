// The contract, on OpenVINO, which computes models of ONNX as well as its own.
#include "backends/contract_test.h"
#include "backends/onnx_contract.h"
#include "backends/openvino_models.h"

namespace wasinn::test {
namespace {

Subject IrSubject() {
  Subject subject = OnnxSubject("Ir", 2);
  subject.bytes = [] { return IrXml("two_in_two_out"); };
  subject.options = IrOptions("two_in_two_out");
  return subject;
}

Subject Sharing(Subject subject) {
  subject.shares_slots = true;
  return subject;
}

EXPECT_CONTRACT(OpenVino, Contract, Sharing(IrSubject()), Sharing(OnnxSubject("Open", -1)),
                Sharing(OnnxPassedOn("PassedOn", 2)), Sharing(OnnxPassedOn("PassedOnOpen", -1)));
EXPECT_CONTRACT(OpenVino, ContractOfShapes, Sharing(OnnxSubject("Open", -1)),
                Sharing(OnnxPassedOn("PassedOnOpen", -1)));
EXPECT_FRAMEWORK(OpenVino, {.name = "OpenVINO",
                            .install = "openvino",
                            .subject = Sharing(IrSubject()),
                            .guest_keys = {{"threads", "performance", "precision"}},
                            .no_device = "plugin"});

}  // namespace
}  // namespace wasinn::test
