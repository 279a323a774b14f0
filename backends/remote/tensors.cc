#include "remote/tensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/common.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "common/dtype.h"
#include "common/error.h"
#include "oip/datatype.h"
#include "remote/exchange.h"
#include "remote/json.h"

namespace wasinn::remote {

using backend::Error;

namespace {

[[noreturn]] void Refuse(const Port& port, const std::string& expected, const std::string& found) {
  throw Error(WASINN_ERROR_RUNTIME,
              fmt::format("output '{}': expected {}, and the server answers with {}", port.name, expected, found));
}

bool Fits(const Port& port, std::span<const int64_t> dims) {
  if (std::ranges::any_of(dims, [](int64_t dim) { return dim < 0; })) return false;
  if (port.io.rank < 0) return true;
  return std::ranges::equal(port.dims, dims,
                            [](int64_t declared, int64_t dim) { return declared < 0 || declared == dim; });
}

void* Memory(void* bound, backend::AlignedBuffer& own, uint64_t bytes) {
  if (bound != nullptr) return bound;
  if (!own.IsFor(bytes)) {
    own = {};  // freed first, so that both never exist together
    own = backend::AlignedBuffer(bytes);
  }
  return own.data();
}

[[noreturn]] void ThrowTooLarge(const Port& port, uint64_t bytes) {
  throw Error(WASINN_ERROR_TOO_LARGE,
              fmt::format("output '{}': its {} bytes are more than this compute may still allocate", port.name, bytes));
}

}  // namespace

Outputs::Outputs(const Signature& signature) : signature_(signature), outputs_(signature.outputs().size()) {}

void Outputs::Bind(uint32_t index, const wasinn_tensor& tensor) {
  const Port& port = PortAt(index);
  outputs_[index].bound = nullptr;
  backend::CheckBindable(port, tensor);
  static constinit char nothing = 0;
  outputs_[index].bound = tensor.bytes == 0 ? &nothing : tensor.data;
}

void Outputs::Choose(std::span<const uint32_t> wanted) {
  if (!signature_.knows_outputs()) return;
  for (Output& output : outputs_) output.is_wanted = wanted.empty();
  for (const uint32_t index : wanted) {
    if (index >= outputs_.size()) backend::ThrowNoPort("output", index, outputs_.size());
    outputs_[index].is_wanted = true;
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Port& port = ports()[i];
    if (outputs_[i].is_wanted && port.bindable() && outputs_[i].bound == nullptr) backend::ThrowUnbound(port);
  }
}

std::vector<std::string> Outputs::WantedNames() const {
  std::vector<std::string> names;
  if (std::ranges::all_of(outputs_, &Output::is_wanted)) return names;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].is_wanted) names.push_back(ports()[i].name);
  }
  return names;
}

void Outputs::MakePorts(std::span<const AnsweredTensor> answered) {
  ios_.clear();
  answered_ports_.clear();
  outputs_.clear();
  for (const AnsweredTensor& one : answered) {
    Port& port = answered_ports_.emplace_back(MakePort(one.name, one.datatype, one.dims, false));
    port.io.flags &= ~uint32_t{WASINN_IO_BINDABLE};
    port.io.struct_size = sizeof(wasinn_io);
    port.io.dims = port.dims.data();
    port.io.name = port.name.c_str();
    port.io.type_name = port.type_name.c_str();
    ios_.push_back(&port.io);
  }
  outputs_.resize(answered_ports_.size());
}

void Outputs::Check(const Port& port, const AnsweredTensor& tensor, uint64_t left) const {
  if (tensor.datatype != port.type_name) Refuse(port, port.type_name, Quoted(tensor.datatype));
  if (port.is_text || !port.servable()) return;
  if (!Fits(port, tensor.dims)) {
    Refuse(port, fmt::format("shape [{}]", fmt::join(port.dims, ", ")),
           fmt::format("[{}]", fmt::join(tensor.dims, ", ")));
  }
  const uint64_t bytes = backend::TensorBytes(tensor.dims, backend::ElementSize(port.io.dtype));
  if (tensor.is_raw && tensor.bytes != bytes) {
    Refuse(port, fmt::format("{} bytes for shape [{}]", bytes, fmt::join(tensor.dims, ", ")),
           fmt::format("{}", tensor.bytes));
  }
  // Each element has at least one byte there, so a shape cannot exceed the received bytes.
  const size_t contents = tensor.is_json ? tensor.json.size() : tensor.contents.size();
  if (!tensor.is_raw && bytes / backend::ElementSize(port.io.dtype) > contents) {
    Refuse(port, fmt::format("elements for shape [{}]", fmt::join(tensor.dims, ", ")),
           fmt::format("{} bytes of contents", contents));
  }
  if (!port.bindable() && bytes > left) ThrowTooLarge(port, bytes);
}

void Outputs::Fill(const Port& port, const AnsweredTensor& tensor, RawReader& raw, Output& output) const {
  output.dims = tensor.dims;
  output.bytes = backend::TensorBytes(tensor.dims, backend::ElementSize(port.io.dtype));
  const std::span to(static_cast<uint8_t*>(Memory(output.bound, output.own, output.bytes)), output.bytes);
  if (tensor.is_raw) {
    raw.Read(tensor.at, to);
  } else if (tensor.is_json ? !DecodeJson(tensor.json, port.io.dtype, to)
                            : !DecodeContents(tensor.contents, port.io.dtype, to)) {
    Refuse(port, fmt::format("contents of shape [{}] as {}", fmt::join(tensor.dims, ", "), port.type_name), "others");
  }
}

void Outputs::FillText(const Port& port, const AnsweredTensor& tensor, RawReader& raw, Output& output,
                       uint64_t left) const {
  std::string_view text;
  std::string resolved;
  uint64_t bytes = 0;
  bool is_one = false;
  if (tensor.is_raw) {
    uint8_t length[oip::kLengthBytes] = {};
    if (tensor.bytes >= oip::kLengthBytes) raw.Read(tensor.at, length);
    uint32_t announced = 0;
    google::protobuf::io::CodedInputStream::ReadLittleEndian32FromArray(length, &announced);
    bytes = announced;
    is_one = tensor.bytes == oip::kLengthBytes + bytes;
  } else {
    is_one = tensor.is_json ? TextOfJson(tensor.json, &resolved) : TextOfContents(tensor.contents, &text);
    if (tensor.is_json) text = resolved;
    bytes = text.size();
  }
  if (!is_one) {
    throw Error(WASINN_ERROR_UNSUPPORTED_OPERATION,
                fmt::format("output '{}': expected one text, and the server answers with shape [{}]", port.name,
                            fmt::join(tensor.dims, ", ")));
  }
  if (bytes > left) ThrowTooLarge(port, bytes);
  output.dims = {static_cast<int64_t>(bytes)};
  output.bytes = bytes;
  auto* const to = static_cast<uint8_t*>(Memory(nullptr, output.own, bytes));
  if (tensor.is_raw) {
    raw.Read(tensor.at + oip::kLengthBytes, {to, bytes});
  } else if (bytes > 0) {
    std::memcpy(to, text.data(), bytes);
  }
}

void Outputs::Take(const grpc::ByteBuffer& message, std::span<const AnsweredTensor> answered, uint64_t max_bytes) {
  for (Output& output : outputs_) output.is_there = false;
  if (!signature_.knows_outputs()) MakePorts(answered);
  RawReader raw(message);
  uint64_t left = max_bytes == 0 ? UINT64_MAX : max_bytes;
  for (size_t i = 0; i < answered.size(); ++i) {
    const AnsweredTensor& tensor = answered[i];
    // Found by name, or by position if each answer has its own outputs.
    const auto found = signature_.knows_outputs() ? std::ranges::find(ports(), tensor.name, &Port::name)
                                                  : ports().begin() + static_cast<ptrdiff_t>(i);
    if (found == ports().end()) continue;  // not requested
    Output& output = outputs_[static_cast<size_t>(found - ports().begin())];
    if (output.is_there || !output.is_wanted || !found->servable()) continue;
    Check(*found, tensor, left);
    if (found->is_text) {
      FillText(*found, tensor, raw, output, left);
    } else {
      Fill(*found, tensor, raw, output);
    }
    output.is_there = true;
    if (output.bound == nullptr) left -= output.bytes;
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].is_wanted && !outputs_[i].is_there && ports()[i].servable()) {
      Refuse(ports()[i], "it", fmt::format("{} others", answered.size()));
    }
  }
}

void Outputs::Discard() {
  for (Output& output : outputs_) {
    output.is_there = false;
    output.bytes = 0;
    output.dims.clear();
    output.own = {};
  }
}

void Outputs::View(uint32_t index, wasinn_tensor* view) const {
  const Port& port = PortAt(index);
  const Output& output = outputs_[index];
  if (output.is_wanted && !output.is_there) {
    throw Error(WASINN_ERROR_INVALID_ARGUMENT, fmt::format("output '{}' was taken", port.name));
  }
  static constexpr int64_t kNoDims[] = {0};
  *view = {.struct_size = sizeof(wasinn_tensor),
           .dtype = port.io.dtype,
           .rank = static_cast<uint32_t>(output.dims.size()),
           .dims = output.dims.empty() ? kNoDims : output.dims.data(),
           .data = output.own.data(),
           .bytes = output.bytes,
           .owner = nullptr,
           .release = nullptr};
}

void Outputs::Give(uint32_t index, wasinn_tensor* out) {
  View(index, out);
  Output& output = outputs_[index];
  output.is_there = false;
  output.bytes = 0;
  out->owner = output.own.release();
  out->release = [](void* memory) { std::free(memory); };
}

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
