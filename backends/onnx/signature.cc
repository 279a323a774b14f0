#include "onnx/signature.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "common/strings.h"
#include "common/throw.h"

namespace wasinn::onnx {

namespace {

using Names = std::unordered_set<std::string_view>;

constexpr char kSignature[] = "signature";
// For the sequences whose elements are outputs: all elements of a model, and the bytes of one name.
constexpr size_t kMaxElements = 1 << 10, kMaxSequenceName = 1 << 10;

// ONNX Runtime binds outputs by name: two of one name would get one value.
void CheckNames(const std::deque<Port>& outputs) {
  Names names;
  for (const Port& output : outputs) {
    if (names.insert(output.name).second) continue;
    backend::Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
                   "the model has two outputs called '{}': expected a name for each", output.name);
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
  CheckNames(outputs_);
  for (Port& output : outputs_) ReadMaps(&output);
  ReadSequences();
  Names inputs;
  for (const Port& input : inputs_) inputs.insert(input.name);
  for (Port& output : outputs_) {
    output.is_input = inputs.contains(output.name);
    if (output.servable() && output.fixed_shape() && !output.is_input && output.sequence.empty())
      output.io.flags |= WASINN_IO_BINDABLE;
  }
  Publish();
}

void Signature::Read(Count count, Name name, TypeInfo type_info, uint32_t flags, std::deque<Port>* ports) {
  const OrtApi& api = library_.api();
  OrtAllocator* const allocator = library_.Allocator();
  const auto n = library_.Get<size_t>(kSignature, count, session_);
  for (size_t i = 0; i < n; ++i) {
    Port& port = ports->emplace_back();
    port.io.flags = flags;
    char* const text = library_.Get<char*>(kSignature, name, session_, i, allocator);
    port.name = text;
    allocator->Free(allocator, text);
    ReadType(library_.Make(kSignature, api.ReleaseTypeInfo, type_info, session_, i).get(), &port);
  }
}

void Signature::ReadType(const OrtTypeInfo* type, Port* port) const {
  port->type_name = TypeName(type);
  port->io.rank = -1;
  const OrtApi& api = library_.api();
  const auto kind = library_.Get<ONNXType>(kSignature, api.GetOnnxTypeFromTypeInfo, type);
  if (kind == ONNX_TYPE_TENSOR) {
    ReadTensor(library_.Get<const OrtTensorTypeAndShapeInfo*>(kSignature, api.CastTypeInfoToTensorInfo, type), port);
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
  port->io.dtype = WASINN_DTYPE_F32;
  port->io.flags &= ~uint32_t{WASINN_IO_UNSERVABLE};
  port->dims = {-1, static_cast<int64_t>(port->classes.names.size())};
  port->io.rank = 2;
}

// A sequence of tensors whose number is known becomes its elements, unless another output has the name of one.
void Signature::ReadSequences() {
  if (scan_.sequences.empty()) return;
  std::unordered_set<std::string> names;
  for (const Port& output : outputs_) names.insert(output.name);
  size_t n_elements = 0;
  const size_t n_outputs = outputs_.size();
  for (size_t i = 0; i < n_outputs; ++i) {
    const std::string sequence = outputs_[i].name;
    const auto found = scan_.sequences.find(sequence);
    const size_t count = found == scan_.sequences.end() ? 0 : found->second;
    if (count == 0 || count > kMaxElements - n_elements || sequence.size() > kMaxSequenceName) continue;
    const OrtPtr<OrtTypeInfo> type = ElementOf(i);
    if (type == nullptr) continue;
    std::deque<Port> elements(count);
    for (size_t k = 0; k < count; ++k) {
      elements[k].name = fmt::format("{}.{}", sequence, k);
      elements[k].sequence = sequence;
      elements[k].element = k;
      elements[k].n_elements = count;
      elements[k].first = i;
      ReadType(type.get(), &elements[k]);
    }
    if (std::ranges::any_of(elements, [&](const Port& element) { return names.contains(element.name); })) continue;
    n_elements += count;
    outputs_[i] = std::move(elements.front());
    std::move(elements.begin() + 1, elements.end(), std::back_inserter(outputs_));
  }
}

// NULL: the output is no sequence of tensors.
OrtPtr<OrtTypeInfo> Signature::ElementOf(size_t output) const {
  const OrtApi& api = library_.api();
  const auto type = library_.Make(kSignature, api.ReleaseTypeInfo, api.SessionGetOutputTypeInfo, session_, output);
  const auto* const sequence =
      library_.Get<const OrtSequenceTypeInfo*>(kSignature, api.CastTypeInfoToSequenceTypeInfo, type.get());
  if (sequence == nullptr) return {nullptr, api.ReleaseTypeInfo};
  OrtPtr<OrtTypeInfo> element = library_.Make(kSignature, api.ReleaseTypeInfo, api.GetSequenceElementType, sequence);
  const auto kind = library_.Get<ONNXType>(kSignature, api.GetOnnxTypeFromTypeInfo, element.get());
  if (kind != ONNX_TYPE_TENSOR) element.reset();
  return element;
}

void Signature::ReadTensor(const OrtTensorTypeAndShapeInfo* tensor, Port* port) const {
  port->ort_type = library_.Get<ONNXTensorElementDataType>(kSignature, library_.api().GetTensorElementType, tensor);
  port->dims = library_.DimsOf(tensor, kSignature);
  const size_t rank = port->dims.size();
  backend::CheckRank(port->name, rank);
  for (int64_t& dim : port->dims) dim = std::max<int64_t>(dim, -1);
  // No dimensions: a scalar, or an unknown shape.
  const bool known =
      rank > 0 || library_.HasShape(tensor).value_or(std::ranges::find(scan_.ranked, port->name) != scan_.ranked.end());
  port->io.rank = known ? static_cast<int32_t>(rank) : -1;
}

std::string Signature::TypeName(const OrtTypeInfo* type) const {
  const OrtApi& api = library_.api();
  const auto kind = library_.Get<ONNXType>(kSignature, api.GetOnnxTypeFromTypeInfo, type);
  switch (kind) {
    case ONNX_TYPE_TENSOR:
    case ONNX_TYPE_SPARSETENSOR: {
      const auto* tensor =
          library_.Get<const OrtTensorTypeAndShapeInfo*>(kSignature, api.CastTypeInfoToTensorInfo, type);
      const auto element = library_.Get<ONNXTensorElementDataType>(kSignature, api.GetTensorElementType, tensor);
      return fmt::format("{}({})", kind == ONNX_TYPE_TENSOR ? "tensor" : "sparse_tensor", OnnxName(element));
    }
    case ONNX_TYPE_SEQUENCE: {
      const auto* sequence =
          library_.Get<const OrtSequenceTypeInfo*>(kSignature, api.CastTypeInfoToSequenceTypeInfo, type);
      const auto element = library_.Make(kSignature, api.ReleaseTypeInfo, api.GetSequenceElementType, sequence);
      return fmt::format("seq({})", TypeName(element.get()));
    }
    case ONNX_TYPE_MAP: {
      const auto* map = library_.Get<const OrtMapTypeInfo*>(kSignature, api.CastTypeInfoToMapTypeInfo, type);
      const auto key = library_.Get<ONNXTensorElementDataType>(kSignature, api.GetMapKeyType, map);
      const auto value = library_.Make(kSignature, api.ReleaseTypeInfo, api.GetMapValueType, map);
      return fmt::format("map({},{})", OnnxName(key), TypeName(value.get()));
    }
    case ONNX_TYPE_OPTIONAL: {
      const auto* optional =
          library_.Get<const OrtOptionalTypeInfo*>(kSignature, api.CastTypeInfoToOptionalTypeInfo, type);
      const auto contained = library_.Make(kSignature, api.ReleaseTypeInfo, api.GetOptionalContainedTypeInfo, optional);
      return fmt::format("optional({})", TypeName(contained.get()));
    }
    default:
      return "opaque";
  }
}

}  // namespace wasinn::onnx
