// The contract, on OpenVINO, which computes models of ONNX as well as its own.
#include "backends/contract_test.h"
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

// Its outputs stay where they are: what is taken would be a copy anyway.
Subject Staying(Subject subject) {
  subject.takes_outputs = false;
  subject.shares_slots = true;
  return subject;
}

EXPECT_CONTRACT(OpenVino, Contract, Staying(Ir()), Staying(OnnxSubject("Open", -1)),
                Staying(OnnxPassedOn("PassedOn", 2)), Staying(OnnxPassedOn("PassedOnOpen", -1)));
EXPECT_CONTRACT(OpenVino, ContractOfShapes, Staying(OnnxSubject("Open", -1)),
                Staying(OnnxPassedOn("PassedOnOpen", -1)));

}  // namespace
}  // namespace wasinn::test
