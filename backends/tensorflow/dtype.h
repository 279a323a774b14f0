// Element types of types.proto, which has more than the C API's enumeration.
#pragma once

#include <tensorflow/c/tf_datatype.h>

#include <cstddef>

#include "common/dtype.h"

namespace wasinn::tensorflow {

inline constexpr backend::TypeRow kTypes[] = {
    {TF_HALF, WASINN_DTYPE_F16, "DT_HALF"},
    {TF_BFLOAT16, WASINN_DTYPE_BF16, "DT_BFLOAT16"},
    {TF_FLOAT, WASINN_DTYPE_F32, "DT_FLOAT"},
    {TF_DOUBLE, WASINN_DTYPE_F64, "DT_DOUBLE"},
    {TF_UINT8, WASINN_DTYPE_U8, "DT_UINT8"},
    {TF_INT8, WASINN_DTYPE_I8, "DT_INT8"},
    {TF_UINT16, WASINN_DTYPE_U16, "DT_UINT16"},
    {TF_INT16, WASINN_DTYPE_I16, "DT_INT16"},
    {TF_UINT32, WASINN_DTYPE_U32, "DT_UINT32"},
    {TF_INT32, WASINN_DTYPE_I32, "DT_INT32"},
    {TF_UINT64, WASINN_DTYPE_U64, "DT_UINT64"},
    {TF_INT64, WASINN_DTYPE_I64, "DT_INT64"},
    {TF_BOOL, WASINN_DTYPE_BOOL, "DT_BOOL"},
    // Integers that stand for other numbers: guests get them unchanged.
    {TF_QUINT8, WASINN_DTYPE_U8, "DT_QUINT8"},
    {TF_QINT8, WASINN_DTYPE_I8, "DT_QINT8"},
    {TF_QUINT16, WASINN_DTYPE_U16, "DT_QUINT16"},
    {TF_QINT16, WASINN_DTYPE_I16, "DT_QINT16"},
    {TF_QINT32, WASINN_DTYPE_I32, "DT_QINT32"},
    {24, WASINN_DTYPE_U8, "DT_FLOAT8_E5M2"},
    {25, WASINN_DTYPE_U8, "DT_FLOAT8_E4M3FN"},
    // Types that wasinn does not have. Strings have another form here.
    {TF_STRING, WASINN_DTYPE_UNKNOWN, "DT_STRING"},
    {TF_COMPLEX64, WASINN_DTYPE_UNKNOWN, "DT_COMPLEX64"},
    {TF_COMPLEX128, WASINN_DTYPE_UNKNOWN, "DT_COMPLEX128"},
    {TF_RESOURCE, WASINN_DTYPE_UNKNOWN, "DT_RESOURCE"},
    {TF_VARIANT, WASINN_DTYPE_UNKNOWN, "DT_VARIANT"},
};

// The type that a reference (a variable of TensorFlow 1) refers to.
inline TF_DataType BaseType(int type) {
  constexpr int kReference = 100;
  return static_cast<TF_DataType>(type > kReference ? type - kReference : type);
}
// WASINN_DTYPE_UNKNOWN for types that are no number of whole bytes. A reference is like its value.
inline wasinn_dtype FromTf(int type) { return backend::DtypeOf(kTypes, BaseType(type)); }
// Bytes of an element; 0 for those without a fixed size.
inline size_t TfElementSize(int type) {
  if (BaseType(type) == TF_COMPLEX64) return 8;
  return BaseType(type) == TF_COMPLEX128 ? 16 : backend::ElementSize(FromTf(type));
}
// "DT_FLOAT"
inline const char* TfName(int type) {
  const backend::TypeRow* row = backend::FindType(kTypes, BaseType(type));
  return row == nullptr ? "unknown type" : row->name;
}

}  // namespace wasinn::tensorflow
