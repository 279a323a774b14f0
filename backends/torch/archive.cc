#include "torch/archive.h"

#include <algorithm>
#include <string_view>

#include "common/error.h"

namespace wasinn::torch {

using backend::Error;

void CheckKind(std::span<const std::string> names) {
  const auto has = [names](std::string_view name) { return std::ranges::find(names, name) != names.end(); };
  if (has("data.pkl") && has("constants.pkl")) return;
  const bool native = std::ranges::any_of(names, [](const std::string& name) {
    return name.ends_with(".so") || name.find("aotinductor") != std::string::npos;
  });
  if (native) {
    throw Error(WASINN_UNSUPPORTED_OPERATION,
                "this is an AOTInductor package, which is native code: expected TorchScript (torch.jit.save)");
  }
  if (has("archive_format") || has("serialized_exported_program.json")) {
    throw Error(
        WASINN_UNSUPPORTED_OPERATION,
        "this is a package of torch.export, which only Python can load: expected TorchScript, which `python3 -c "
        "'import torch; p = torch.export.load(\"model.pt2\"); "
        "torch.jit.save(torch.jit.trace(p.module(), p.example_inputs[0]), \"model.pt\")'` makes of it");
  }
  if (has("data.pkl")) {
    throw Error(WASINN_UNSUPPORTED_OPERATION,
                "this is what torch.save writes, tensors without code: expected TorchScript (torch.jit.save)");
  }
  throw Error(WASINN_INVALID_ENCODING,
              "these bytes are not a TorchScript model: the archive has no data.pkl and constants.pkl");
}

}  // namespace wasinn::torch
