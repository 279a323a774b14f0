// What a model's file says that TensorFlow Lite's C API does not tell.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wasinn::tflite {

// Whose the model is: a file that the host named, or bytes of a guest.
enum class Trust { kHost, kGuest };

// A transposed convolution with a bias, of MediaPipe's models. A custom operator, which XNNPACK computes.
inline constexpr std::string_view kDeconvolution = "Convolution2DTransposeBias";

// One input or output of the main graph.
struct ScannedPort {
  int32_t tensor = -1;
  std::string name;            // the first signature's, or the tensor's
  bool has_shape = true;       // false: no dimensions are written, and the file does not say that it is a scalar
  std::vector<int32_t> shape;  // with -1 for unknown
  uint64_t bytes = 0;          // at least, with the shape in the file; UINT64_MAX: too many to count
};

// An operator that moves a window over its input.
struct WindowOperator {
  int32_t code = 0;
  bool is_convolution = false;  // CONV_2D, with groups of channels
  std::vector<int32_t> inputs, outputs;
};

// Of a tensor of the main graph, in the order of its operators.
struct Lifetime {
  bool computed = false;         // an operator gives it
  uint32_t first = 0, last = 0;  // the operator that does, and the last one that takes it
};

struct ModelScan {
  std::vector<ScannedPort> inputs, outputs;
  std::vector<WindowOperator> windows;  // of the main graph
  bool has_custom_ops = false;          // but for kDeconvolution
  bool has_deconvolution = false;
  uint32_t tensors = 0, operators = 0;  // of the main graph
  std::vector<Lifetime> lives;          // of its tensors
  uint64_t bytes = 0;                   // of all tensors that are computed, likewise; UINT64_MAX: too many to count
  uint64_t constants = 0;               // bytes of weights
  bool keeps_state = false;             // a run leaves something behind for the next one that cannot be reset
  bool has_variables = false;           // likewise, but it can
  bool divides_integers = false;        // by what is no constant
};

// Bytes that TensorFlow Lite's own verifier has passed. Throws WASINN_ERROR_INVALID_ENCODING where what is read here is broken
// all the same, WASINN_ERROR_SECURITY where a guest's model asks for a library of TensorFlow's.
// `signature`: the key of the one that names inputs and outputs; "": the first of the first graph.
ModelScan ScanModel(std::span<const uint8_t> bytes, Trust trust, const std::string& signature = "");
// Whether what is read here lies within the bytes.
bool IsVerified(std::span<const uint8_t> bytes);

// Their keys, in the file's order. The bytes have passed TensorFlow Lite's verifier, as for all functions here.
std::vector<std::string> SignatureKeys(std::span<const uint8_t> bytes);

// The index of the signature's graph. Throws WASINN_ERROR_INVALID_ARGUMENT, which lists what there is, and WASINN_ERROR_UNSUPPORTED_OPERATION
// where other graphs are called by their indices.
uint32_t GraphOf(std::span<const uint8_t> bytes, const std::string& key);

// Exchanges this graph and the first one, which is the one that TensorFlow Lite's interpreter computes.
void MakeFirst(std::span<uint8_t> bytes, uint32_t graph);

}  // namespace wasinn::tflite
