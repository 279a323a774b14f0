#include "openvino/signature.h"

#include <algorithm>

#include "common/throw.h"

namespace wasinn::openvino {

using backend::Throw;

Signature::Signature(const OvLibrary& library, const ov_compiled_model_t* compiled) : library_(library) {
  const OvApi& api = library.api();
  Read(compiled, api.ov_compiled_model_inputs_size, api.ov_compiled_model_input_by_index, "input", &inputs_);
  Read(compiled, api.ov_compiled_model_outputs_size, api.ov_compiled_model_output_by_index, "output", &outputs_);
  if (outputs_.empty()) Throw(WASINN_ERROR_INVALID_ENCODING, "the model has no outputs");
  Publish();
}

void Signature::Read(const ov_compiled_model_t* compiled, Count count, At at, const char* kind,
                     std::deque<Port>* ports) const {
  size_t n = 0;
  library_.Check(count(compiled, &n), "signature");
  for (size_t i = 0; i < n; ++i) {
    ov_output_const_port_t* raw = nullptr;
    library_.Check(at(compiled, i, &raw), "signature");
    const OvPtr<ov_output_const_port_t> from(raw, library_.api().ov_output_const_port_free);
    Port& port = ports->emplace_back();
    ReadPort(raw, &port);
    if (port.name.empty()) port.name = fmt::format("{}{}", kind, i);
  }
}

void Signature::ReadPort(const ov_output_const_port_t* from, Port* port) const {
  char* name = nullptr;
  // Fails for a port without a name.
  if (library_.api().ov_port_get_any_name(from, &name) == OK && name != nullptr) {
    port->name = name;
    library_.api().ov_free(name);
  }
  library_.Check(library_.api().ov_port_get_element_type(from, &port->ov_type), "signature");
  port->type_name = OvName(port->ov_type);
  port->io.dtype = FromOv(port->ov_type);
  ReadShape(from, port);
  if (port->io.dtype == WASINN_DTYPE_UNKNOWN) port->io.flags |= WASINN_IO_UNSERVABLE;
}

void Signature::ReadShape(const ov_output_const_port_t* from, Port* port) const {
  ov_partial_shape_t shape = {};
  library_.Check(library_.api().ov_port_get_partial_shape(from, &shape), "signature");
  const bool ranked = shape.rank.min == shape.rank.max;
  const int64_t rank = ranked ? shape.rank.max : -1;
  for (int64_t i = 0; i < std::min<int64_t>(rank, WASINN_MAX_RANK); ++i) {
    const ov_dimension_t& dim = shape.dims[i];
    port->dims.push_back(dim.min == dim.max ? dim.max : -1);
    port->bounds.push_back(dim);
  }
  library_.api().ov_partial_shape_free(&shape);
  if (rank > 0) backend::CheckRank(port->name, static_cast<size_t>(rank));
  port->io.rank = static_cast<int32_t>(rank);
}

}  // namespace wasinn::openvino
