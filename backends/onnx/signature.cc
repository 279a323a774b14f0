#include "onnx/signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "common/error.h"
#include "common/strings.h"
#include "onnx/dtype.h"

namespace wasinn::onnx {

namespace {

using Names = std::unordered_set<std::string_view>;

// ONNX Runtime binds outputs by name: of two that have one name it would give one value.
void CheckNames(const std::deque<Port>& outputs) {
  Names names;
  for (const Port& output : outputs) {
    if (names.insert(output.name).second) continue;
    throw backend::Error(WASINN_UNSUPPORTED_OPERATION,
                         fmt::format("the model has two outputs called '{}': expected a name for each", output.name));
  }
}

}  // namespace

Signature::Signature(const OrtLibrary& library, const OrtSession* session, const ModelScan& scan)
    : library_(library), session_(session), scan_(scan) {
  const OrtApi& api = library.api();
  Read(api.SessionGetInputCount, api.SessionGetInputName, api.SessionGetInputTypeInfo, 0, &inputs_);
  Read(api.SessionGetOverridableInitializerCount, api.SessionGetOverridableInitializerName,
       api.SessionGetOverridableInitializerTypeInfo, WASINN_IO_OPTIONAL, &inputs_);
  Read(api.SessionGetOutputCount, api.SessionGetOutputName, api.SessionGetOutputTypeInfo, 0, &outputs_);
  for (Port& output : outputs_) ReadMaps(&output);
  CheckNames(outputs_);
  Names inputs;
  for (const Port& input : inputs_) inputs.insert(input.name);
  for (Port& output : outputs_) {
    output.is_input = inputs.contains(output.name);
    if (output.servable() && output.fixed_shape() && !output.is_input) output.io.flags |= WASINN_IO_BINDABLE;
  }
  Publish();
}

void Signature::Read(Count count, Name name, TypeInfo type_info, uint32_t flags, std::deque<Port>* ports) {
  const OrtApi& api = library_.api();
  OrtAllocator* allocator = nullptr;
  library_.Check(api.GetAllocatorWithDefaultOptions(&allocator), "allocator");
  size_t n = 0;
  library_.Check(count(session_, &n), "signature");
  for (size_t i = 0; i < n; ++i) {
    Port& port = ports->emplace_back();
    port.io.flags = flags;
    char* text = nullptr;
    library_.Check(name(session_, i, allocator, &text), "signature");
    port.name = text;
    allocator->Free(allocator, text);
    OrtTypeInfo* type = nullptr;
    library_.Check(type_info(session_, i, &type), "signature");
    const OrtPtr<OrtTypeInfo> owned(type, api.ReleaseTypeInfo);
    ReadType(type, &port);
  }
}

void Signature::ReadType(const OrtTypeInfo* type, Port* port) const {
  port->type_name = TypeName(type);
  port->io.rank = -1;
  ONNXType kind = ONNX_TYPE_UNKNOWN;
  library_.Check(library_.api().GetOnnxTypeFromTypeInfo(type, &kind), "signature");
  if (kind == ONNX_TYPE_TENSOR) {
    const OrtTensorTypeAndShapeInfo* tensor = nullptr;
    library_.Check(library_.api().CastTypeInfoToTensorInfo(type, &tensor), "signature");
    ReadTensor(tensor, port);
  }
  port->io.dtype = kind == ONNX_TYPE_TENSOR ? FromOrt(port->ort_type) : WASINN_DTYPE_UNKNOWN;
  if (port->io.dtype == WASINN_DTYPE_UNKNOWN) port->io.flags |= WASINN_IO_UNSERVABLE;
  if (kind != ONNX_TYPE_TENSOR || port->ort_type != ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) return;
  backend::MakeStrings(*port);
  port->is_strings = port->servable();
}

// ONNX Runtime's maps are sorted, so only the model's file has the order of the classes.
void Signature::ReadMaps(Port* port) const {
  const auto found = scan_.classes.find(port->name);
  if (port->servable() || found == scan_.classes.end() || found->second.names.empty()) return;
  port->classes = found->second;
  port->io.dtype = WASINN_F32;
  port->io.flags &= ~uint32_t{WASINN_IO_UNSERVABLE};
  port->dims = {-1, static_cast<int64_t>(port->classes.names.size())};
  port->io.rank = 2;
}

void Signature::ReadTensor(const OrtTensorTypeAndShapeInfo* tensor, Port* port) const {
  const OrtApi& api = library_.api();
  library_.Check(api.GetTensorElementType(tensor, &port->ort_type), "signature");
  size_t rank = 0;
  library_.Check(api.GetDimensionsCount(tensor, &rank), "signature");
  backend::CheckRank(port->name, rank);
  port->dims.resize(rank);
  if (rank > 0) library_.Check(api.GetDimensions(tensor, port->dims.data(), rank), "signature");
  for (int64_t& dim : port->dims) dim = std::max<int64_t>(dim, -1);
  // No dimensions: a scalar, or a shape that nobody knows.
  const bool known =
      rank > 0 || library_.HasShape(tensor).value_or(std::ranges::find(scan_.ranked, port->name) != scan_.ranked.end());
  port->io.rank = known ? static_cast<int32_t>(rank) : -1;
}

std::string Signature::TypeName(const OrtTypeInfo* type) const {
  const OrtApi& api = library_.api();
  ONNXType kind = ONNX_TYPE_UNKNOWN;
  library_.Check(api.GetOnnxTypeFromTypeInfo(type, &kind), "signature");
  switch (kind) {
    case ONNX_TYPE_TENSOR:
    case ONNX_TYPE_SPARSETENSOR: {
      const OrtTensorTypeAndShapeInfo* tensor = nullptr;
      library_.Check(api.CastTypeInfoToTensorInfo(type, &tensor), "signature");
      auto element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
      library_.Check(api.GetTensorElementType(tensor, &element), "signature");
      return fmt::format("{}({})", kind == ONNX_TYPE_TENSOR ? "tensor" : "sparse_tensor", OnnxName(element));
    }
    case ONNX_TYPE_SEQUENCE: {
      const OrtSequenceTypeInfo* sequence = nullptr;
      library_.Check(api.CastTypeInfoToSequenceTypeInfo(type, &sequence), "signature");
      OrtTypeInfo* element = nullptr;
      library_.Check(api.GetSequenceElementType(sequence, &element), "signature");
      const OrtPtr<OrtTypeInfo> owned(element, api.ReleaseTypeInfo);
      return fmt::format("seq({})", TypeName(element));
    }
    case ONNX_TYPE_MAP: {
      const OrtMapTypeInfo* map = nullptr;
      library_.Check(api.CastTypeInfoToMapTypeInfo(type, &map), "signature");
      auto key = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
      library_.Check(api.GetMapKeyType(map, &key), "signature");
      OrtTypeInfo* value = nullptr;
      library_.Check(api.GetMapValueType(map, &value), "signature");
      const OrtPtr<OrtTypeInfo> owned(value, api.ReleaseTypeInfo);
      return fmt::format("map({},{})", OnnxName(key), TypeName(value));
    }
    case ONNX_TYPE_OPTIONAL: {
      const OrtOptionalTypeInfo* optional = nullptr;
      library_.Check(api.CastTypeInfoToOptionalTypeInfo(type, &optional), "signature");
      OrtTypeInfo* contained = nullptr;
      library_.Check(api.GetOptionalContainedTypeInfo(optional, &contained), "signature");
      const OrtPtr<OrtTypeInfo> owned(contained, api.ReleaseTypeInfo);
      return fmt::format("optional({})", TypeName(contained));
    }
    default:
      return "opaque";
  }
}

}  // namespace wasinn::onnx
