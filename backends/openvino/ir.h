// What the text of a model in OpenVINO's own format (IR) tells.
#pragma once

#include <cstdint>
#include <string_view>

namespace wasinn::openvino {

// Whether the bytes look like XML, so that nothing but an IR is meant.
bool LooksLikeXml(std::string_view bytes);

// What an IR says, as OpenVINO's reader understands it: in each encoding of XML, and with characters by their numbers.
struct IrScan {
  bool is_whole = false;       // false: it is no XML to its end, and the rest may be missing here
  uint64_t version = 0;        // of the format; 0: it says none
  bool names_weights = false;  // a file for its weights: OpenVINO keeps the place in the model, and its devices read it
  bool may_loop = false;       // as often as the data say
  bool has_state = false;
  // What its states (variables) take in a request, of those whose shape it fixes: OpenVINO's C API does not show them.
  // It has two buffers of each, of which an inference reads the one and writes the other. UINT64_MAX: too many to count.
  uint64_t state_bytes = 0;
};
IrScan ScanIr(std::string_view xml);

}  // namespace wasinn::openvino
