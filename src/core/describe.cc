#include "core/describe.h"

#include "core/json.h"
#include "core/words.h"

namespace wasinn::core {
namespace {

using Json = nlohmann::ordered_json;

Json Describe(const wasinn_io& io) {
  Json json = {{"name", io.name}, {"type", DtypeName(io.dtype)}};
  json["shape"] = io.rank < 0 ? Json() : Json(std::vector<int64_t>(io.dims, io.dims + io.rank));
  if (io.dtype == WASINN_DTYPE_UNKNOWN && io.type_name != nullptr) json["type"] = io.type_name;
  if ((io.flags & WASINN_IO_OPTIONAL) != 0) json["optional"] = true;
  if ((io.flags & WASINN_IO_OPAQUE) != 0) json["opaque"] = true;
  if ((io.flags & WASINN_IO_ALWAYS) != 0) json["always"] = true;
  if ((io.flags & WASINN_IO_UNSERVABLE) != 0) json["unservable"] = true;
  return json;
}

Json Describe(std::span<const wasinn_io* const> ios) {
  Json json = Json::array();
  for (const wasinn_io* io : ios) json.push_back(Describe(*io));
  return json;
}

}  // namespace

std::string DescribeAsJson(const Graph& graph) {
  Json json = {{"backend", graph.backend().table().name}, {"inputs", Describe(graph.inputs())}};
  // null: only a run tells them.
  json["outputs"] = graph.has_late_outputs() ? Json() : Describe(graph.outputs());
  if (const char* text = graph.description()) {
    json["model"] = ParseJson<Json>(text);
    if (json["model"].is_discarded()) json["model"] = Json();
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace wasinn::core
