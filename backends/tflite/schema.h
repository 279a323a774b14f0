// What of TensorFlow Lite's schema of models is looked at before it sees one.
#ifndef WASINN_BACKENDS_TFLITE_SCHEMA_H_
#define WASINN_BACKENDS_TFLITE_SCHEMA_H_

#include <cstdint>

namespace wasinn::tflite {

// Positions of fields.
struct ModelField {
  enum { kOperatorCodes = 1, kSubgraphs = 2, kBuffers = 4, kSignatures = 7 };
};
struct CodeField {
  enum { kOldCode = 0, kCustom = 1, kCode = 3 };
};
struct GraphField {
  enum { kTensors = 0, kInputs = 1, kOutputs = 2, kOperators = 3 };
};
struct TensorField {
  enum { kShape = 0, kType = 1, kBuffer = 2, kName = 3, kVariable = 5, kSignature = 7, kRank = 8 };
};
struct OperatorField {
  enum { kCode = 0, kInputs = 1, kOutputs = 2, kOptions = 4, kCustomOptions = 5, kLargeOptions = 9 };
};
struct BufferField {
  enum { kData = 0, kOffset = 1, kSize = 2 };
};
struct SignatureField {
  enum { kInputs = 0, kOutputs = 1, kGraph = 4 };
};
struct MapField {
  enum { kName = 0, kTensor = 1 };
};

// Operators with a meaning here.
enum Operator : int32_t {
  kAveragePool = 1,
  kConv = 3,
  kDepthwiseConv = 4,
  kL2Pool = 12,
  kMaxPool = 17,
  kTransposeConv = 67,
  kConv3d = 132,
  kConv3dTranspose = 141,
  kCall = 31,
  kCustom = 32,
  kDelegate = 51,
  kIf = 118,
  kWhile = 119,
  kPlaceholder = 127,
  kCallOnce = 129,
  kHashtable = 136,
  kHashtableSize = 139,
  kVarHandle = 142,
  kAssignVariable = 144,
  kRandomNormal = 146,
  kRandomUniform = 148,
  kMultinomial = 149,
  kFirstStablehlo = 162,
};

}  // namespace wasinn::tflite

#endif  // WASINN_BACKENDS_TFLITE_SCHEMA_H_
