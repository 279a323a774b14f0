// Element types: ONNX Runtime's and wasinn's.
#pragma once

#include "common/type_table.h"
#include "onnx/ort_library.h"

namespace wasinn::onnx {

inline constexpr backend::TypeRow kTypes[] = {
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, WASINN_DTYPE_F16, "float16"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, WASINN_DTYPE_BF16, "bfloat16"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, WASINN_DTYPE_F32, "float"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, WASINN_DTYPE_F64, "double"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, WASINN_DTYPE_U8, "uint8"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, WASINN_DTYPE_I8, "int8"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, WASINN_DTYPE_U16, "uint16"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, WASINN_DTYPE_I16, "int16"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32, WASINN_DTYPE_U32, "uint32"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, WASINN_DTYPE_I32, "int32"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, WASINN_DTYPE_U64, "uint64"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, WASINN_DTYPE_I64, "int64"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, WASINN_DTYPE_BOOL, "bool"},
    // One byte an element, which guests take as it is. After uint8, which is what u8 means by itself.
    {17, WASINN_DTYPE_U8, "float8e4m3fn"},
    {18, WASINN_DTYPE_U8, "float8e4m3fnuz"},
    {19, WASINN_DTYPE_U8, "float8e5m2"},
    {20, WASINN_DTYPE_U8, "float8e5m2fnuz"},
    // What wasinn has no word for. Types of four bits pack two elements into a byte.
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, WASINN_DTYPE_UNKNOWN, "string"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64, WASINN_DTYPE_UNKNOWN, "complex64"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128, WASINN_DTYPE_UNKNOWN, "complex128"},
    {21, WASINN_DTYPE_UNKNOWN, "uint4"},
    {22, WASINN_DTYPE_UNKNOWN, "int4"},
    {23, WASINN_DTYPE_UNKNOWN, "float4e2m1"},
};

inline wasinn_dtype FromOrt(ONNXTensorElementDataType type) { return backend::DtypeOf(kTypes, type); }
// ONNX's own word: "float", "int64", "string".
inline const char* OnnxName(ONNXTensorElementDataType type) { return backend::NameOf(kTypes, type); }

}  // namespace wasinn::onnx
