// Reads facts from a model's file that TensorFlow Lite's C API does not report.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wasinn::tflite {

// The source of the model: a file that the host named, or bytes of a guest.
enum class Trust { kHost, kGuest };

// A transposed convolution with a bias, in MediaPipe's models. A custom operator, which XNNPACK computes.
inline constexpr std::string_view kDeconvolution = "Convolution2DTransposeBias";

// One input or output of the main graph.
struct ScannedPort {
  int32_t tensor = -1;
  std::string name;            // in the first signature, or the tensor's
  bool has_shape = true;       // false: the file has no dimensions, and does not say that it is a scalar
  std::vector<int32_t> shape;  // with -1 for unknown
  uint64_t bytes = 0;          // at least, with the shape in the file; UINT64_MAX: too many to count
};

// An operator that moves a window over its input.
struct WindowOperator {
  int32_t code = 0;
  bool is_convolution = false;  // CONV_2D, with groups of channels
  std::vector<int32_t> inputs, outputs;
};

// The lifetime of a tensor of the main graph, by the order of its operators.
struct Lifetime {
  bool computed = false;         // an operator computes it
  uint32_t first = 0, last = 0;  // that operator, and the last one that uses it
};

struct ModelScan {
  std::vector<ScannedPort> inputs, outputs;
  std::vector<WindowOperator> windows;  // of the main graph
  bool has_custom_ops = false;          // except for kDeconvolution
  bool has_deconvolution = false;
  uint32_t tensors = 0, operators = 0;  // of the main graph
  std::vector<Lifetime> lives;          // of its tensors
  uint64_t bytes = 0;                   // of all computed tensors, in the same way; UINT64_MAX: too many to count
  uint64_t constants = 0;               // bytes of weights
  bool keeps_state = false;             // a run leaves data for the next one that cannot be reset
  bool has_variables = false;           // a run leaves data that can be reset
  bool divides_integers = false;        // by a value that is no constant
};

// The bytes must have passed TensorFlow Lite's own verifier. Throws WASINN_ERROR_INVALID_ENCODING if the parts that are
// read here are broken nevertheless, WASINN_ERROR_SECURITY if a guest's model needs TensorFlow's library. `signature`:
// the key of the one that names inputs and outputs; "": the first one of the first graph.
ModelScan ScanModel(std::span<const uint8_t> bytes, Trust trust, const std::string& signature = "");
// Whether the parts that are read here are inside of the bytes.
bool IsVerified(std::span<const uint8_t> bytes);

// Their keys, in the file's order. For all functions here, the bytes have passed TensorFlow Lite's verifier.
std::vector<std::string> SignatureKeys(std::span<const uint8_t> bytes);

// The index of the signature's graph. Throws WASINN_ERROR_INVALID_ARGUMENT, which lists the signatures, and
// WASINN_ERROR_UNSUPPORTED_OPERATION if other graphs are called by their indices.
uint32_t GraphOf(std::span<const uint8_t> bytes, const std::string& key);

// Exchanges this graph and the first one, which TensorFlow Lite's interpreter computes.
void MakeFirst(std::span<uint8_t> bytes, uint32_t graph);

}  // namespace wasinn::tflite
