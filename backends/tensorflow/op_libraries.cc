#include "tensorflow/op_libraries.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <set>
#include <string_view>
#include <vector>

#include "base/proto_reader.h"
#include "common/throw.h"

namespace wasinn::tensorflow {

namespace {

struct Operators {
  std::mutex mutex;
  std::set<std::string, std::less<>> names;
};

Operators& OfLibraries() {
  static Operators all;
  return all;
}

}  // namespace

void OpenOpLibraries(const TfLibrary& library, std::span<const std::string> paths) {
  for (const std::string& path : paths) {
    const TfPtr<TF_Status> status = library.NewStatus();
    const TfPtr<TF_Library> opened(library->TF_LoadLibrary(path.c_str(), status.get()),
                                   library->TF_DeleteLibraryHandle);  // the library stays open
    library.Check(status.get(), "op_libraries");
    const TF_Buffer list = library->TF_GetOpList(opened.get());  // an OpList, whose OpDefs begin with their names
    Operators& all = OfLibraries();
    const std::lock_guard lock(all.mutex);
    const auto add = [&](const base::ProtoField& name) {
      if (name.IsBytes(1)) all.names.emplace(name.text());
    };
    base::ForEachField({static_cast<const uint8_t*>(list.data), list.length}, [&](const base::ProtoField& op) {
      if (op.IsBytes(1)) base::ForEachField(op.bytes, add);
    });
  }
}

void CheckHasNoneOfLibraries(const GraphScan& scan) {
  Operators& all = OfLibraries();
  const std::lock_guard lock(all.mutex);
  if (all.names.empty()) return;
  const auto check = [&](const std::vector<ScannedNode>& nodes) {
    const auto found =
        std::ranges::find_if(nodes, [&](const ScannedNode& node) { return all.names.contains(node.op); });
    if (found == nodes.end()) return;
    backend::Throw(
        WASINN_ERROR_UNSUPPORTED_OPERATION,
        "node '{}' has the custom operator {}, whose library the key op_libraries of this model does not list",
        found->name, found->op);
  };
  check(scan.nodes);
  for (const auto& [name, nodes] : scan.functions) check(nodes);
}

}  // namespace wasinn::tensorflow
