#include "serve/models/guest_model_tensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace wasinn::serve {
namespace {

using engines::ModelIo;
using engines::ModelIos;
using engines::ModelTensor;

const Datatype& DatatypeOrBytes(wasinn_dtype dtype) {
  const Datatype* const found = FindDatatype(dtype);
  return found == nullptr ? Bytes() : *found;
}

const ModelIo* FindModelIo(const std::vector<ModelIo>& ios, std::string_view name) {
  const auto found = std::ranges::find(ios, name, &ModelIo::name);
  return found == ios.end() ? nullptr : &*found;
}

// Names of guests appear in messages, and may be long.
std::string Shortened(std::string_view name) {
  constexpr size_t kMost = 100;
  return name.size() <= kMost ? std::string(name) : std::string(name.substr(0, kMost)) + "…";
}

Outcome<void> CheckIo(const char* what, const ModelIo& io, std::set<std::string_view>& names) {
  const auto wrong = [&](const std::string& why) { return Refuse("its {} '{}' {}", what, Shortened(io.name), why); };
  if (io.name.empty() || io.name.size() > kMostName) return wrong("has a name of no or of more than 4096 bytes");
  if (!names.insert(io.name).second) return wrong("is described twice");
  if (io.shape.size() > WASINN_MAX_RANK) return wrong(fmt::format("has more than {} dimensions", WASINN_MAX_RANK));
  for (const int64_t dim : io.shape) {
    if (dim < -1) return wrong(fmt::format("has {} for a dimension", dim));
  }
  return {};
}

bool Fits(const std::vector<int64_t>& described, const auto& shape) {
  return std::ranges::equal(described, shape,
                            [](int64_t any, auto dim) { return any == -1 || std::cmp_equal(any, dim); });
}

// The error in a tensor of this io; "": none.
std::string WhyNot(const ModelIo& io, const ModelTensor& tensor) {
  const Datatype& datatype = DatatypeOf(io);
  if (io.dtype != tensor.dtype)
    return fmt::format("is of {}, not {}", datatype.name, DatatypeOrBytes(tensor.dtype).name);
  if (!Fits(io.shape, tensor.shape)) {
    return fmt::format("has the shape [{}], not [{}]", fmt::join(io.shape, ","),
                       fmt::join(tensor.shape.first(std::min<size_t>(tensor.shape.size(), WASINN_MAX_RANK)), ","));
  }
  uint64_t elements = 1;
  for (const uint64_t dim : tensor.shape) {
    if (dim > INT64_MAX || __builtin_mul_overflow(elements, dim, &elements))
      return "has a shape that no tensor can have";
  }
  if (datatype.size == 0) {
    const auto is = CountElements(tensor.data);
    if (!is) return "has bytes that are not BYTES: lengths and elements";
    if (*is != elements) return fmt::format("has {} elements, not the {} of its shape", *is, elements);
  } else if (uint64_t bytes = 0;
             __builtin_mul_overflow(elements, datatype.size, &bytes) || bytes != tensor.data.size()) {
    return fmt::format("has {} bytes, not those of {} elements", tensor.data.size(), elements);
  }
  return "";
}

Failure NotAsDescribed(const std::string& why) { return {WASINN_ERROR_RUNTIME, why}; }

}  // namespace

const Datatype& DatatypeOf(const ModelIo& io) { return DatatypeOrBytes(io.dtype); }

Outcome<void> CheckIos(const ModelIos& ios) {
  if (ios.inputs.size() > kMostTensors || ios.outputs.size() > kMostTensors) {
    return Refuse("it describes more than {} inputs or outputs", kMostTensors);
  }
  if (ios.outputs.empty()) return Refuse("it describes no output");
  std::set<std::string_view> inputs, outputs;
  for (const ModelIo& io : ios.inputs) {
    if (auto checked = CheckIo("input", io, inputs); !checked) return checked;
  }
  for (const ModelIo& io : ios.outputs) {
    if (auto checked = CheckIo("output", io, outputs); !checked) return checked;
  }
  return {};
}

Outcome<engines::ModelRequest> ToModelRequest(const ModelIos& ios, const InferRequest& request,
                                              std::vector<std::vector<uint64_t>>& shapes) {
  engines::ModelRequest to;
  std::set<std::string_view> names;
  shapes.reserve(request.inputs.size());  // pointers into it must stay valid
  for (const InputTensor& input : request.inputs) {
    const ModelIo* const io = FindModelIo(ios.inputs, input.name);
    if (io == nullptr) return Refuse("the model has no input '{}'", input.name);
    if (!names.insert(io->name).second) return Refuse("input '{}' is given twice", input.name);
    shapes.emplace_back(input.shape.begin(), input.shape.end());
    const ModelTensor tensor = {io->name, input.datatype->dtype, shapes.back(), input.bytes()};
    if (const std::string why = WhyNot(*io, tensor); !why.empty()) return Refuse("input '{}' {}", input.name, why);
    to.inputs.push_back(tensor);
  }
  for (const ModelIo& io : ios.inputs) {
    if (!names.contains(io.name)) return Refuse("input '{}' is missing", io.name);
  }
  names.clear();
  for (const std::string& output : request.outputs) {
    const ModelIo* const io = FindModelIo(ios.outputs, output);
    if (io == nullptr) return Refuse("the model has no output '{}'", output);
    if (!names.insert(io->name).second) return Refuse("output '{}' is asked for twice", output);
    to.outputs.emplace_back(io->name);
  }
  return to;
}

Outcome<std::vector<OutputTensor>> TakeOutputs(const ModelIos& ios, const std::vector<std::string>& wanted,
                                               const engines::ModelAnswer& answer) {
  const std::set<std::string_view> exchange(wanted.begin(), wanted.end());
  std::set<std::string_view> names;
  std::vector<OutputTensor> outputs;
  for (const ModelTensor& tensor : answer.tensors) {
    const auto wrong = [&](const std::string& why) {
      return std::unexpected(NotAsDescribed(fmt::format("its output '{}' {}", Shortened(tensor.name), why)));
    };
    const ModelIo* const io = FindModelIo(ios.outputs, tensor.name);
    if (io == nullptr) return wrong("is not one that it described");
    if (!names.insert(io->name).second) return wrong("is given twice");
    if (const std::string why = WhyNot(*io, tensor); !why.empty()) return wrong(why);
    if (!exchange.empty() && !exchange.contains(io->name)) continue;
    outputs.push_back({.name = io->name,
                       .datatype = &DatatypeOf(*io),
                       .shape = {tensor.shape.begin(), tensor.shape.end()},
                       .bytes = tensor.data,
                       .owner = answer.owner});
  }
  for (const ModelIo& io : ios.outputs) {
    const bool is_wanted = exchange.empty() || exchange.contains(io.name);
    if (!is_wanted || names.contains(io.name)) continue;
    return std::unexpected(NotAsDescribed(fmt::format("it gave no output '{}'", Shortened(io.name))));
  }
  return outputs;
}

}  // namespace wasinn::serve
