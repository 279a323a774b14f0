#include "tensorflow/dtype.h"

namespace wasinn::tensorflow {

namespace {

struct TypeRow {
  int tf;  // of types.proto, which names more than the C API's enumeration
  wasinn_dtype dtype;
  size_t size;
  const char* name;
};

constexpr TypeRow kTypes[] = {
    {TF_HALF, WASINN_F16, 2, "DT_HALF"},
    {TF_BFLOAT16, WASINN_BF16, 2, "DT_BFLOAT16"},
    {TF_FLOAT, WASINN_F32, 4, "DT_FLOAT"},
    {TF_DOUBLE, WASINN_F64, 8, "DT_DOUBLE"},
    {TF_UINT8, WASINN_U8, 1, "DT_UINT8"},
    {TF_INT8, WASINN_I8, 1, "DT_INT8"},
    {TF_UINT16, WASINN_U16, 2, "DT_UINT16"},
    {TF_INT16, WASINN_I16, 2, "DT_INT16"},
    {TF_UINT32, WASINN_U32, 4, "DT_UINT32"},
    {TF_INT32, WASINN_I32, 4, "DT_INT32"},
    {TF_UINT64, WASINN_U64, 8, "DT_UINT64"},
    {TF_INT64, WASINN_I64, 8, "DT_INT64"},
    {TF_BOOL, WASINN_BOOL, 1, "DT_BOOL"},
    // Whole numbers that stand for others: guests take them as they are. After the plain types, which the sizes by
    // wasinn's type come from.
    {TF_QUINT8, WASINN_U8, 1, "DT_QUINT8"},
    {TF_QINT8, WASINN_I8, 1, "DT_QINT8"},
    {TF_QUINT16, WASINN_U16, 2, "DT_QUINT16"},
    {TF_QINT16, WASINN_I16, 2, "DT_QINT16"},
    {TF_QINT32, WASINN_I32, 4, "DT_QINT32"},
    {24, WASINN_U8, 1, "DT_FLOAT8_E5M2"},
    {25, WASINN_U8, 1, "DT_FLOAT8_E4M3FN"},
    // What wasinn has no word for.
    {TF_STRING, WASINN_DTYPE_UNKNOWN, 0, "DT_STRING"},
    {TF_COMPLEX64, WASINN_DTYPE_UNKNOWN, 8, "DT_COMPLEX64"},
    {TF_COMPLEX128, WASINN_DTYPE_UNKNOWN, 16, "DT_COMPLEX128"},
    {TF_RESOURCE, WASINN_DTYPE_UNKNOWN, 0, "DT_RESOURCE"},
    {TF_VARIANT, WASINN_DTYPE_UNKNOWN, 0, "DT_VARIANT"},
};

constexpr TypeRow kNoType = {0, WASINN_DTYPE_UNKNOWN, 0, "unknown type"};

const TypeRow& RowOf(int type) {
  for (const TypeRow& row : kTypes) {
    if (row.tf == BaseType(type)) return row;
  }
  return kNoType;
}

}  // namespace

TF_DataType BaseType(int type) {
  constexpr int kReference = 100;
  return static_cast<TF_DataType>(type > kReference ? type - kReference : type);
}

wasinn_dtype FromTf(int type) { return RowOf(type).dtype; }
size_t TfElementSize(int type) { return RowOf(type).size; }
const char* TfName(int type) { return RowOf(type).name; }

}  // namespace wasinn::tensorflow
