#include "remote/signature.h"

#include <fmt/format.h>
#include <google/protobuf/stubs/common.h>

#include <algorithm>

#include "common/dtype.h"
#include "common/error.h"
#include "oip/datatype.h"
#include "remote/errors.h"

namespace wasinn::remote {

using backend::Error;

namespace {

constexpr int64_t kOneText[] = {-1};

// Protocol Buffers require UTF-8 when the name is sent back.
void CheckName(const std::string& name) {
  const bool is_text = google::protobuf::internal::IsStructurallyValidUTF8(name.data(), static_cast<int>(name.size()));
  if (is_text && !name.empty() && name.find('\0') == name.npos) return;
  throw Error(WASINN_ERROR_UNSUPPORTED_OPERATION,
              fmt::format("the server names a tensor '{}': expected non-empty UTF-8 without zeros", Quoted(name)));
}

// Whether the shape can have one element, as a text has.
bool CanBeOne(std::span<const int64_t> dims) {
  return std::ranges::all_of(dims, [](int64_t dim) { return dim == 1 || dim < 0; });
}

}  // namespace

Port MakePort(const std::string& name, const std::string& datatype, std::span<const int64_t> dims, bool is_input) {
  CheckName(name);
  Port port;
  port.name = name;
  port.type_name = Quoted(datatype);
  const oip::Datatype* const known = oip::FindDatatype(datatype);
  port.io.dtype = known == nullptr ? WASINN_DTYPE_UNKNOWN : known->dtype;
  port.io.rank = dims.empty() ? -1 : static_cast<int32_t>(dims.size());
  for (const int64_t dim : dims) port.dims.push_back(std::max<int64_t>(dim, -1));
  if (datatype == oip::Bytes().name && CanBeOne(dims)) {
    port.is_text = true;
    port.text_dims.assign(std::max<size_t>(dims.size(), 1), 1);
    port.dims.assign(std::begin(kOneText), std::end(kOneText));
    port.io.rank = 1;
    port.io.dtype = WASINN_DTYPE_U8;
    if (is_input) port.io.flags |= WASINN_IO_OPAQUE;
  }
  if (port.io.dtype == WASINN_DTYPE_UNKNOWN) port.io.flags |= WASINN_IO_UNSERVABLE;
  const bool is_fixed = port.servable() && !port.is_text && port.fixed_shape();
  if (!is_input && is_fixed && port.bytes() != UINT64_MAX) port.io.flags |= WASINN_IO_BINDABLE;
  return port;
}

Signature::Signature(const Metadata& metadata) : knows_outputs_(!metadata.outputs.empty()) {
  for (const AnsweredTensor& one : metadata.inputs) {
    inputs_.push_back(MakePort(one.name, one.datatype, one.dims, true));
    if (one.is_optional) inputs_.back().io.flags |= WASINN_IO_OPTIONAL;
  }
  for (const AnsweredTensor& one : metadata.outputs) {
    outputs_.push_back(MakePort(one.name, one.datatype, one.dims, false));
  }
  Publish(knows_outputs_);
  // Calls wait at the server, not here.
  set_max_parallel(UINT32_MAX);
}

}  // namespace wasinn::remote
