#include "remote/inputs.h"

#include "common/error.h"

namespace wasinn::remote {

Inputs::Inputs(const Signature& signature)
    : signature_(signature), inputs_(signature.inputs().size()), is_set_(signature.inputs().size()) {
  set_.reserve(inputs_.size());
}

void Inputs::Bind(uint32_t index, const wasinn_tensor& tensor) {
  const Port& port = backend::PortAt(signature_.inputs(), "input", index);
  is_set_[index] = false;
  if (!port.is_text) backend::CheckTensor(port, tensor);
  if (port.is_text && tensor.bytes > UINT32_MAX) {
    throw backend::Error(WASINN_ERROR_TOO_LARGE, "input '" + port.name + "': a text must have fewer than 4 GiB");
  }
  Input& input = inputs_[index];
  input.port = &port;
  input.data = tensor.data;
  input.bytes = tensor.bytes;
  if (port.is_text) {
    input.dims = port.text_dims;
  } else {
    input.dims.assign(tensor.dims, tensor.dims + tensor.rank);
  }
  is_set_[index] = true;
}

void Inputs::Choose() {
  set_.clear();
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Port& port = signature_.inputs()[i];
    if (is_set_[i]) {
      set_.push_back(&inputs_[i]);
    } else if (port.required()) {
      backend::ThrowUnset(port);
    }
  }
}

}  // namespace wasinn::remote
