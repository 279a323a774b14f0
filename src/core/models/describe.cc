
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.h"
#include "core/models/graph.h"
#include "core/words.h"

namespace wasinn::core {
namespace {

std::string Describe(const wasinn_io& io) {
  const bool is_told = io.dtype == WASINN_DTYPE_UNKNOWN && io.type_name != nullptr;
  std::string json = fmt::format(R"({{"name":{},"type":{},"shape":)", base::Quoted(io.name),
                                 base::Quoted(is_told ? io.type_name : DtypeName(io.dtype)));
  json += io.rank < 0 ? "null" : fmt::format("[{}]", fmt::join(io.dims, io.dims + io.rank, ","));
  if ((io.flags & WASINN_IO_OPTIONAL) != 0) json += R"(,"optional":true)";
  if ((io.flags & WASINN_IO_OPAQUE) != 0) json += R"(,"opaque":true)";
  if ((io.flags & WASINN_IO_ALWAYS) != 0) json += R"(,"always":true)";
  if ((io.flags & WASINN_IO_STRINGS) != 0) json += R"(,"strings":true)";
  if ((io.flags & WASINN_IO_UNSERVABLE) != 0) json += R"(,"unservable":true)";
  return json + "}";
}

std::string Describe(std::span<const wasinn_io* const> ios) {
  std::string json = "[";
  for (const wasinn_io* io : ios) {
    if (json.size() > 1) json += ",";
    json += Describe(*io);
  }
  return json + "]";
}

// The backend's description of its model, or null if it is no JSON.
std::string_view Checked(std::string_view json) {
  return !base::IsTooDeep(json) && nlohmann::json::accept(json) ? json : "null";
}

}  // namespace

std::string DescribeAsJson(const Graph& graph) {
  // null: only known after a run.
  std::string json =
      fmt::format(R"({{"backend":{},"inputs":{},"outputs":{})", base::Quoted(graph.backend_name()),
                  Describe(graph.inputs()), graph.has_dynamic_outputs() ? "null" : Describe(graph.outputs()));
  if (const char* text = graph.description()) json += fmt::format(R"(,"model":{})", Checked(text));
  return json + "}";
}

}  // namespace wasinn::core
