#include "check/subject_of.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include "common/dtype.h"

namespace wasinn::check {
namespace {

using Shapes = std::map<std::string, std::vector<int64_t>>;

Port PortOf(const wasinn_io& io) {
  Port port{.name = io.name,
            .dtype = static_cast<wasinn_dtype>(io.dtype),
            .dims = {},
            .any_rank = io.rank < 0,
            .flags = io.flags & ~uint32_t{WASINN_IO_BINDABLE}};
  if (!port.any_rank) port.dims.assign(io.dims, io.dims + io.rank);
  return port;
}

std::expected<std::vector<int64_t>, std::string> ShapeOf(const Port& port, const Shapes& shapes) {
  const auto given = shapes.find(port.name);
  if (given == shapes.end() && port.any_rank) return std::vector<int64_t>{2, 2};
  std::vector<int64_t> dims = given == shapes.end() ? port.dims : given->second;
  bool fits = port.any_rank || dims.size() == port.dims.size();
  for (size_t i = 0; fits && !port.any_rank && i < dims.size(); ++i) {
    if (given == shapes.end() && dims[i] < 0) dims[i] = 2;
    fits = port.dims[i] < 0 || dims[i] == port.dims[i];
  }
  if (fits) return dims;
  return std::unexpected("input '" + port.name + "' does not take the shape of --shape");
}

std::string NamesOf(const std::vector<Port>& ports) {
  std::string names;
  for (const Port& port : ports) names += (names.empty() ? "'" : ", '") + port.name + "'";
  return names;
}

// The number 0 or 1; for floats and bytes one of a few more, chosen by `seed`.
void Put(wasinn_dtype dtype, uint32_t seed, char* to) {
  const auto put = [&](auto value) { std::memcpy(to, &value, sizeof value); };
  const uint16_t small = seed % 2;
  switch (dtype) {
    case WASINN_DTYPE_F32:
      return put(static_cast<float>(seed % 7) / 4);
    case WASINN_DTYPE_F64:
      return put(static_cast<double>(seed % 7) / 4);
    case WASINN_DTYPE_F16:
      return put(static_cast<uint16_t>(small * 0x3c00));
    case WASINN_DTYPE_BF16:
      return put(static_cast<uint16_t>(small * 0x3f80));
    case WASINN_DTYPE_U8:
      return put(static_cast<uint8_t>('a' + seed % 7));  // it may be text
    case WASINN_DTYPE_I8:
    case WASINN_DTYPE_BOOL:
      return put(static_cast<uint8_t>(small));
    case WASINN_DTYPE_U16:
    case WASINN_DTYPE_I16:
      return put(small);
    case WASINN_DTYPE_U32:
    case WASINN_DTYPE_I32:
      return put(static_cast<uint32_t>(small));
    default:
      return put(static_cast<uint64_t>(small));
  }
}

// Each string is one letter.
Tensor OfStrings(Tensor tensor, uint32_t index, int variant) {
  const std::string letter(1, static_cast<char>('a' + (index + static_cast<uint32_t>(variant)) % 26));
  if (!tensor.dims.empty()) tensor.dims.back() = 5;
  int64_t strings = 1;
  for (size_t i = 0; i + 1 < tensor.dims.size(); ++i) strings *= tensor.dims[i];
  for (int64_t i = 0; i < strings; ++i) tensor.bytes += std::string("\1\0\0\0", 4) + letter;
  return tensor;
}

Tensor MakeInput(const Port& port, const std::vector<int64_t>& dims, uint32_t index, int variant) {
  Tensor tensor{.dtype = port.dtype == WASINN_DTYPE_UNKNOWN ? WASINN_DTYPE_F32 : port.dtype, .dims = dims, .bytes = {}};
  if ((port.flags & WASINN_IO_STRINGS) != 0) return OfStrings(std::move(tensor), index, variant);
  size_t elements = 1;
  for (const int64_t dim : dims) elements *= static_cast<size_t>(dim);
  const size_t size = backend::ElementSize(tensor.dtype);
  tensor.bytes.resize(elements * size);
  for (size_t n = 0; n < elements; ++n) {
    Put(tensor.dtype, static_cast<uint32_t>(n + size_t{3} * index) + static_cast<uint32_t>(variant),
        &tensor.bytes[n * size]);
  }
  return tensor;
}

std::string WhyNot(const Port& port, const char* what) {
  if ((port.flags & WASINN_IO_UNSERVABLE) == 0) return "";
  return std::string(what) + " '" + port.name + "' cannot be used by guests: another model is needed";
}

}  // namespace

std::string FormatOf(const wasinn_backend& table, const std::string& path) {
  const std::span formats(table.formats, table.n_formats);
  for (const wasinn_format* format : formats) {
    for (size_t i = 0; i < format->n_endings; ++i) {
      if (path.ends_with(format->endings[i])) return format->name;
    }
  }
  return formats.size() == 1 ? formats[0]->name : "";
}

std::expected<Subject, std::string> SubjectOf(const Host& host, const SubjectOptions& options) {
  const wasinn_backend& table = host.table();
  Subject subject{.name = "Model",
                  .bytes = [bytes = options.parts.front()] { return bytes; },
                  .options = {.encoding = options.format,
                              .more_bytes = {options.parts.begin() + 1, options.parts.end()},
                              .keeps_bytes = true,
                              .path = options.address,
                              .host_config = options.config},
                  .takes_outputs = table.take_output != nullptr,
                  .discards_outputs = table.discard_outputs != nullptr,
                  .generates = table.step != nullptr,
                  .cancels = table.cancel != nullptr,
                  .wants_outputs = std::nullopt,
                  .checks_inputs = false,
                  .has_limits = false};
  const Model model(host, options.parts.front(), subject.options);
  if (!model.loaded()) return std::unexpected("the model does not load: " + model.loaded().message);
  const wasinn_info& info = model.info();
  std::vector<std::vector<int64_t>> shapes;
  for (uint32_t i = 0; i < info.n_inputs; ++i) {
    subject.inputs.push_back(PortOf(model.input(i)));
    if (std::string why = WhyNot(subject.inputs.back(), "input"); !why.empty()) return std::unexpected(why);
    auto shape = ShapeOf(subject.inputs.back(), options.shapes);
    if (!shape) return std::unexpected(shape.error());
    shapes.push_back(std::move(*shape));
  }
  for (const auto& [name, shape] : options.shapes) {
    if (std::ranges::find(subject.inputs, name, &Port::name) == subject.inputs.end()) {
      return std::unexpected("the model has no input '" + name + "' for --shape: it has " + NamesOf(subject.inputs));
    }
  }
  if (info.n_inputs == 0) return std::unexpected("the model has no input: another one is needed");
  for (uint32_t i = 0; info.n_outputs != WASINN_COUNT_UNKNOWN && i < info.n_outputs; ++i) {
    subject.outputs.push_back(PortOf(model.output(i)));
    if ((model.output(i).flags & WASINN_IO_BINDABLE) != 0) ++subject.bindable;
  }
  subject.shares_slots = (info.flags & WASINN_GRAPH_SHARES_SLOTS) != 0;
  if (!subject.outputs.empty()) {
    if (std::string why = WhyNot(subject.outputs.front(), "output"); !why.empty()) return std::unexpected(why);
  }
  subject.make_inputs = [ports = subject.inputs, shapes](int variant, int64_t) {
    std::vector<Tensor> inputs;
    inputs.reserve(ports.size());
    for (uint32_t i = 0; i < ports.size(); ++i) inputs.push_back(MakeInput(ports[i], shapes[i], i, variant));
    return inputs;
  };
  return subject;
}

}  // namespace wasinn::check
