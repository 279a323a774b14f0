// The inputs and outputs of a model, and their element types.
#pragma once

#include <wasinn/backend.h>

#include "common/dtype.h"
#include "common/ports.h"
#include "tflite/interpreter.h"
#include "tflite/model_scan.h"

namespace wasinn::tflite {

inline constexpr backend::TypeRow kTypes[] = {
    {1, WASINN_DTYPE_F32, "FLOAT32"},
    {2, WASINN_DTYPE_I32, "INT32"},
    {3, WASINN_DTYPE_U8, "UINT8"},
    {4, WASINN_DTYPE_I64, "INT64"},
    {6, WASINN_DTYPE_BOOL, "BOOL"},
    {7, WASINN_DTYPE_I16, "INT16"},
    {9, WASINN_DTYPE_I8, "INT8"},
    {10, WASINN_DTYPE_F16, "FLOAT16"},
    {11, WASINN_DTYPE_F64, "FLOAT64"},
    {13, WASINN_DTYPE_U64, "UINT64"},
    {16, WASINN_DTYPE_U32, "UINT32"},
    {17, WASINN_DTYPE_U16, "UINT16"},
    {19, WASINN_DTYPE_BF16, "BFLOAT16"},
    // Types that wasinn does not have, except for strings in their own form. INT4 packs two elements into a byte.
    {0, WASINN_DTYPE_UNKNOWN, "NOTYPE"},
    {kTfLiteString, WASINN_DTYPE_UNKNOWN, "STRING"},
    {8, WASINN_DTYPE_UNKNOWN, "COMPLEX64"},
    {12, WASINN_DTYPE_UNKNOWN, "COMPLEX128"},
    {14, WASINN_DTYPE_UNKNOWN, "RESOURCE"},
    {15, WASINN_DTYPE_UNKNOWN, "VARIANT"},
    {18, WASINN_DTYPE_UNKNOWN, "INT4"},
};

inline wasinn_dtype FromTfLite(int type) { return backend::DtypeOf(kTypes, type); }
// TensorFlow Lite's own name: "FLOAT32", "STRING".
inline const char* TfLiteName(int type) { return backend::NameOf(kTypes, type); }

struct Port : backend::Port {
  int32_t tensor = -1;    // TensorFlow Lite's index
  bool in_arena = false;  // neither a constant, nor allocated by a run
  bool is_fixed = false;  // TensorFlow Lite's shape of it, without the dimension that strings have more
  bool is_strings = false;
};

class Signature : public backend::Ports<Port> {
 public:
  // In the order of the model's main graph, as TensorFlow Lite counts. `interpreter` has allocated its tensors.
  Signature(const Interpreter& interpreter, const ModelScan& scan);
  // No input's shape can change, and so no output's.
  bool all_fixed() const { return all_fixed_; }

 private:
  void ReadInput(const Interpreter& interpreter, const ScannedPort& scanned, const TfLiteTensor* tensor);
  void ReadOutput(const Interpreter& interpreter, const ScannedPort& scanned, const TfLiteTensor* tensor);

  bool IsBindable(const Port& port, const TfLiteLibrary& library) const;

  bool all_fixed_ = true;
};

}  // namespace wasinn::tflite
