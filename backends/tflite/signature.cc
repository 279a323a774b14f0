#include "tflite/signature.h"

#include <algorithm>

#include "common/strings.h"
#include "common/throw.h"

namespace wasinn::tflite {

using backend::Throw;

namespace {

void ReadType(const TfLiteLibrary& library, const ScannedPort& scanned, const TfLiteTensor* tensor, Port* port) {
  const int type = library.tensor_type(tensor);
  port->name = scanned.name;
  port->type_name = fmt::format("tensor({})", TfLiteName(type));
  port->tensor = scanned.tensor;
  port->io.dtype = FromTfLite(type);
  if (port->io.dtype == WASINN_DTYPE_UNKNOWN) port->io.flags |= WASINN_IO_UNSERVABLE;
}

void SetShape(const std::vector<int64_t>& dims, Port* port) {
  backend::CheckRank(port->name, dims.size());
  port->dims = dims;
  port->io.rank = static_cast<int32_t>(dims.size());
}

// Call it when the port has its shape.
void MakeStringsIfTheyAre(const TfLiteLibrary& library, const TfLiteTensor* tensor, Port* port) {
  port->is_fixed = port->fixed_shape();
  if (library.tensor_type(tensor) != kTfLiteString || library.tensor_realloc == nullptr) return;
  backend::MakeStrings(*port);
  port->is_strings = port->servable();
}

}  // namespace

Signature::Signature(const Interpreter& interpreter, const ModelScan& scan) {
  const TfLiteLibrary& library = interpreter.library();
  const auto n_inputs = static_cast<size_t>(library.input_count(interpreter.get()));
  const auto n_outputs = static_cast<size_t>(library.output_count(interpreter.get()));
  if (n_inputs != scan.inputs.size() || n_outputs != scan.outputs.size()) {
    Throw(WASINN_ERROR_INVALID_ENCODING, "broken model: TensorFlow Lite counts other inputs and outputs");
  }
  for (size_t i = 0; i < n_inputs; ++i) {
    ReadInput(interpreter, scan.inputs[i], library.input(interpreter.get(), static_cast<int32_t>(i)));
  }
  all_fixed_ = std::ranges::all_of(inputs_, &Port::is_fixed);
  for (size_t i = 0; i < n_outputs; ++i) {
    ReadOutput(interpreter, scan.outputs[i], library.output(interpreter.get(), static_cast<int32_t>(i)));
  }
  for (Port& output : outputs_) {
    if (IsBindable(output, library)) output.io.flags |= WASINN_IO_BINDABLE;
  }
  Publish();
}

// By a custom allocation, if no shape can change.
bool Signature::IsBindable(const Port& port, const TfLiteLibrary& library) const {
  if (library.set_custom_allocation == nullptr || library.allocation_type == nullptr) return false;
  if (!all_fixed_ || !port.servable() || !port.fixed_shape() || !port.in_arena || port.bytes() == 0) return false;
  // One tensor is in one place, whatever its names.
  const auto same = [&port](const Port& other) { return other.tensor == port.tensor; };
  return std::ranges::none_of(inputs_, same) && std::ranges::count_if(outputs_, same) == 1;
}

void Signature::ReadInput(const Interpreter& interpreter, const ScannedPort& scanned, const TfLiteTensor* tensor) {
  const TfLiteLibrary& library = interpreter.library();
  if (tensor == nullptr) Throw(WASINN_ERROR_INVALID_ENCODING, "broken model: an input without a tensor");
  Port& port = inputs_.emplace_back();
  ReadType(library, scanned, tensor, &port);
  SetShape({scanned.shape.begin(), scanned.shape.end()}, &port);
  if (!scanned.has_shape) port.io.rank = -1;
  MakeStringsIfTheyAre(library, tensor, &port);
  // An input with a value in the file cannot get another one: its memory is the file's.
  if (library.allocation_type != nullptr && library.allocation_type(tensor) == kTfLiteMmapRo) {
    port.io.flags |= WASINN_IO_UNSERVABLE;
    port.is_strings = false;
    port.type_name = fmt::format("constant {}", port.type_name);
  }
}

void Signature::ReadOutput(const Interpreter& interpreter, const ScannedPort& scanned, const TfLiteTensor* tensor) {
  const TfLiteLibrary& library = interpreter.library();
  if (tensor == nullptr) Throw(WASINN_ERROR_INVALID_ENCODING, "broken model: an output without a tensor");
  Port& port = outputs_.emplace_back();
  ReadType(library, scanned, tensor, &port);
  port.in_arena = library.allocation_type != nullptr && library.allocation_type(tensor) == kTfLiteArenaRw;
  const bool dynamic = library.allocation_type != nullptr && library.allocation_type(tensor) == kTfLiteDynamic;
  // The output's shape after preparing the model is better than the file's.
  if (all_fixed_ && !dynamic) {
    SetShape(library.DimsOf(tensor), &port);
  } else {
    const bool known = std::ranges::any_of(scanned.shape, [](int32_t dim) { return dim < 0; });
    if (known) SetShape({scanned.shape.begin(), scanned.shape.end()}, &port);
    if (!known) port.io.rank = -1;
  }
  MakeStringsIfTheyAre(library, tensor, &port);
}

}  // namespace wasinn::tflite
