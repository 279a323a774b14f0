// Looks through a model in OpenVINO's own format (IR) before OpenVINO parses it.
#ifndef WASINN_BACKENDS_OPENVINO_IR_SCAN_H_
#define WASINN_BACKENDS_OPENVINO_IR_SCAN_H_

#include <cstdint>
#include <string_view>

namespace wasinn::openvino {

// Whether the bytes look like XML, so that nothing but an IR is meant.
bool LooksLikeXml(std::string_view bytes);

struct IrLimits {
  uint64_t weights = 0;             // bytes of the weights
  uint64_t max_bytes = UINT64_MAX;  // of one tensor that the model declares
};

// Throws where a guest's model must not come before OpenVINO: WASINN_INVALID_ENCODING where the XML is no IR or refers
// to weights that are not there; WASINN_SECURITY where it names a file; WASINN_TOO_LARGE where it declares a tensor
// over the limit; WASINN_UNSUPPORTED_OPERATION for a loop, which OpenVINO does not interrupt.
void ScanGuestIr(std::string_view xml, const IrLimits& limits);

// What an IR's states (variables) take in a request, of those whose shape it fixes: OpenVINO's C API does not show
// them. It has two buffers of each, of which an inference reads the one and writes the other. 0 where the XML is not as
// we read it; UINT64_MAX: too many to count.
uint64_t StateBytes(std::string_view xml);

}  // namespace wasinn::openvino

#endif  // WASINN_BACKENDS_OPENVINO_IR_SCAN_H_
