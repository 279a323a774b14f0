// The contract, on ONNX Runtime.
#include "backends/onnx_contract.h"
#include "backends/contract_test.h"

namespace wasinn::test {
namespace {

Subject WithBindable(uint32_t bindable, Subject subject) {
  subject.bindable = bindable;
  return subject;
}

EXPECT_CONTRACT(Onnx, Contract, WithBindable(2, OnnxSubject("Fixed", 2)), OnnxSubject("Open", -1),
                WithBindable(1, OnnxPassedOn("PassedOn", 2)), OnnxPassedOn("PassedOnOpen", -1));
EXPECT_CONTRACT(Onnx, ContractOfShapes, OnnxSubject("Open", -1), OnnxPassedOn("PassedOnOpen", -1));
EXPECT_FRAMEWORK(Onnx, {.name = "ONNX Runtime",
                        .install = "onnxruntime",
                        .subject = OnnxSubject("Open", -1),
                        .guest_keys = {{"threads", "optimization"}},
                        .no_device = "ONNX Runtime"});

}  // namespace
}  // namespace wasinn::test
