#include "tensorflow/signature.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "common/strings.h"
#include "common/throw.h"
#include "tensorflow/dtype.h"

namespace wasinn::tensorflow {

using backend::Throw;

namespace {

Port MakePort(std::string name, std::string tensor, int type, const std::optional<std::vector<int64_t>>& dims) {
  Port port;
  port.name = std::move(name);
  port.tensor = std::move(tensor);
  port.type = BaseType(type);
  port.type_name = port.tensor.empty() ? "several tensors" : TfName(type);
  if (dims) {
    backend::CheckRank(port.name, dims->size());
    port.dims = *dims;
  }
  port.io.rank = dims ? static_cast<int32_t>(dims->size()) : -1;
  port.io.dtype = port.tensor.empty() ? WASINN_DTYPE_UNKNOWN : FromTf(type);
  if (port.io.dtype == WASINN_DTYPE_UNKNOWN) port.io.flags |= WASINN_IO_UNSERVABLE;
  if (port.type == TF_STRING && !port.tensor.empty()) {
    backend::MakeStrings(port);
    port.is_strings = port.servable();
  }
  return port;
}

Port PortOf(const SignatureEntry& entry) { return MakePort(entry.name, entry.tensor, entry.type, entry.dims); }

Port PortOf(const TfLibrary& library, const Session& session, const std::string& name) {
  const TF_Output output = session.Find(name);
  const TfPtr<TF_Status> status = library.NewStatus();
  const int rank = library->TF_GraphGetTensorNumDims(session.graph(), output, status.get());
  library.Check(status.get(), name.c_str());
  std::optional<std::vector<int64_t>> dims;
  if (rank >= 0) {
    backend::CheckRank(name, static_cast<size_t>(rank));
    dims.emplace(static_cast<size_t>(rank));
    library->TF_GraphGetTensorShape(session.graph(), output, dims->data(), rank, status.get());
    library.Check(status.get(), name.c_str());
  }
  return MakePort(name, name, library->TF_OperationOutputType(output), dims);
}

// "node:0" and "node" are the same.
std::string_view ShortTensor(std::string_view tensor) {
  return tensor.ends_with(":0") ? tensor.substr(0, tensor.size() - 2) : tensor;
}

void SortPorts(std::deque<Port>* ports) { std::ranges::sort(*ports, {}, &Port::name); }

bool IsPlaceholder(const ScannedNode& node) {
  return node.op == "Placeholder" || node.op == "PlaceholderV2" || node.op == "PlaceholderWithDefault";
}

std::vector<std::string> TensorsWithoutConsumers(const TfLibrary& library, const Session& session,
                                                 const GraphScan& scan) {
  const std::vector<std::string_view> free = NodesWithoutConsumers(scan);
  std::vector<std::string> tensors;
  // Both are in the graph's order.
  auto next = free.begin();
  for (const ScannedNode& node : scan.nodes) {
    if (next == free.end()) break;
    if (*next != node.name) continue;
    ++next;
    if (IsPlaceholder(node)) continue;
    const std::string name(node.name);
    TF_Operation* operation = library->TF_GraphOperationByName(session.graph(), name.c_str());
    const int n = operation == nullptr ? 0 : library->TF_OperationNumOutputs(operation);
    for (int i = 0; i < n; ++i) tensors.push_back(i == 0 ? name : fmt::format("{}:{}", name, i));
  }
  return tensors;
}

}  // namespace

Signature::Signature(const NamedSignature& named, std::span<const std::string> wanted) {
  for (const SignatureEntry& entry : named.inputs) inputs_.push_back(PortOf(entry));
  for (const SignatureEntry& entry : named.outputs) {
    if (wanted.empty() || std::ranges::find(wanted, entry.name) != wanted.end()) outputs_.push_back(PortOf(entry));
  }
  for (const std::string& name : wanted) {
    if (std::ranges::find(outputs_, name, &Port::name) != outputs_.end()) continue;
    std::vector<std::string_view> names;
    names.reserve(named.outputs.size());
    for (const SignatureEntry& entry : named.outputs) names.push_back(entry.name);
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "signature '{}' has no output '{}': found {}", named.name, name,
          fmt::join(names, ", "));
  }
  Finish();
}

Signature::Signature(const TfLibrary& library, const Session& session, const GraphScan& scan,
                     std::span<const std::string> wanted) {
  for (const ScannedNode& node : scan.nodes) {
    if (!IsPlaceholder(node)) continue;
    inputs_.push_back(PortOf(library, session, std::string(node.name)));
    if (node.op == "PlaceholderWithDefault") inputs_.back().io.flags |= WASINN_IO_OPTIONAL;
  }
  std::vector<std::string> tensors(wanted.begin(), wanted.end());
  if (tensors.empty()) tensors = TensorsWithoutConsumers(library, session, scan);
  for (const std::string& tensor : tensors) outputs_.push_back(PortOf(library, session, tensor));
  SortPorts(&inputs_);
  SortPorts(&outputs_);
  if (outputs_.empty()) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT,
          "the graph has no outputs, because another node consumes each node: the key `outputs` of the model's "
          "configuration may name some");
  }
  Finish();
}

void Signature::Finish() {
  for (Port& output : outputs_) {
    const auto same = std::ranges::find(inputs_, ShortTensor(output.tensor),
                                        [](const Port& input) { return ShortTensor(input.tensor); });
    if (same != inputs_.end()) output.same_input = static_cast<int>(same - inputs_.begin());
  }
  Publish();
}

std::vector<std::string> Signature::OutputTensors() const {
  std::vector<std::string> tensors;
  tensors.reserve(outputs_.size());
  for (const Port& output : outputs_) tensors.push_back(output.tensor);
  return tensors;
}

}  // namespace wasinn::tensorflow
