#include "cli/signature_text.h"

#include <fmt/format.h>

#include <utility>

#include "settings/text.h"

namespace wasinn::cli {
namespace {

using Json = nlohmann::ordered_json;

Json IoToJson(const Io& io) {
  const Json shape = io.has_rank ? Json(io.dims) : Json();
  return {{"name", io.name},
          {"dtype", wasinn_dtype_name(io.dtype)},
          {"type", io.type_name},
          {"shape", shape},
          {"optional", (io.flags & WASINN_IO_OPTIONAL) != 0},
          {"usable", (io.flags & WASINN_IO_UNSERVABLE) == 0}};
}

}  // namespace

std::string TypeOf(const Io& io) {
  if (io.dtype != WASINN_DTYPE_UNKNOWN) return wasinn_dtype_name(io.dtype);
  return io.type_name.empty() ? "?" : io.type_name;
}

bool IsText(const Io& io) { return (io.flags & (WASINN_IO_OPAQUE | WASINN_IO_STRINGS)) != 0; }

std::string ShapeOf(const Io& io) {
  if (!io.has_rank) return "?";
  std::string shape = "[";
  for (const int64_t dim : io.dims) {
    if (shape.size() > 1) shape += ", ";
    shape += dim < 0 ? "?" : std::to_string(dim);
  }
  return shape + "]";
}

std::string NotesOf(const Io& io) {
  if (io.flags & WASINN_IO_UNSERVABLE) return "guests cannot use it";
  if (io.flags & WASINN_IO_STRINGS) return io.flags & WASINN_IO_OPTIONAL ? "strings, optional" : "strings";
  if (io.flags & WASINN_IO_OPAQUE) return "bytes of any length";
  return io.flags & WASINN_IO_OPTIONAL ? "optional" : "";
}

std::string LineOf(const std::vector<Io>& ios) {
  std::string line;
  for (const Io& io : ios) {
    const bool has_type = io.dtype != WASINN_DTYPE_UNKNOWN || !io.type_name.empty();
    line += (line.empty() ? "" : ", ") + settings::PrintableName(io.name) +
            (has_type ? " " + settings::PrintableName(TypeOf(io)) : "") + (io.has_rank ? " " + ShapeOf(io) : "");
    if (!has_type || !io.has_rank) {
      line += fmt::format(" ({} not known before a run)", has_type ? "shape" : io.has_rank ? "type" : "type and shape");
    }
  }
  return line;
}

Json IosToJson(const std::vector<Io>& ios) {
  Json json = Json::array();
  for (const Io& io : ios) json.push_back(IoToJson(io));
  return json;
}

std::string Dump(const Json& json) { return json.dump(2, ' ', true, Json::error_handler_t::replace) + "\n"; }

std::optional<ModelInfo> FindModel(const Host& host, const std::string& name) {
  std::optional<ModelInfo> found;
  for (ModelInfo& info : host.Models()) {
    if (info.name == name || info.name + ":" + std::to_string(info.version) == name) found = std::move(info);
  }
  return found;
}

std::string StepsOf(const ModelInfo& info) {
  std::string steps;
  for (const std::string& step : info.steps) steps += (steps.empty() ? ": " : ", ") + settings::PrintableName(step);
  return steps;
}

}  // namespace wasinn::cli
