// What the text of a model in OpenVINO's own format (IR) tells.
#ifndef WASINN_BACKENDS_OPENVINO_IR_H_
#define WASINN_BACKENDS_OPENVINO_IR_H_

#include <cstdint>
#include <string_view>

namespace wasinn::openvino {

// Whether the bytes look like XML, so that nothing but an IR is meant.
bool LooksLikeXml(std::string_view bytes);

// Whether it names a file for its weights: OpenVINO keeps the place in the model, and its devices read it there.
bool NamesWeights(std::string_view xml);

// What an IR's states (variables) take in a request, of those whose shape it fixes: OpenVINO's C API does not show
// them. It has two buffers of each, of which an inference reads the one and writes the other. 0 where the XML is not as
// we read it; UINT64_MAX: too many to count.
uint64_t StateBytes(std::string_view xml);

}  // namespace wasinn::openvino

#endif  // WASINN_BACKENDS_OPENVINO_IR_H_
