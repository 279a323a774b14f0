// WasmEdge's extensions of wasi_ephemeral_nn (its wasi_nn plugin): configuration, release, and generation step by step.
#include "abi/profiles.h"
#include "abi/witx/call.h"
#include "abi/witx/witx.h"

namespace wasinn::abi {
namespace {

using core::Result;
using core::Status;

constexpr char kWasmEdgeModule[] = "wasi_ephemeral_nn";

// load_by_name_with_config(name_ptr, name_len, config_ptr, config_len, out_graph)
Status LoadByNameWithConfig(const Invocation& call) {
  RETURN_IF_ERROR(CheckResult(call, call.arg(4)));
  ASSIGN_OR_RETURN(std::string name, DecodeName(call, "a model's name", call.arg(0), call.arg(1)));
  ASSIGN_OR_RETURN(std::string config, DecodeText(call, "a configuration", call.arg(2), call.arg(3), kMaxConfigBytes));
  return StoreHandle(call, call.arg(4), call.guest.LoadByName(name, config));
}

// unload(graph)
Status Unload(const Invocation& call) { return call.guest.DropGraph(call.arg(0)); }

// finalize_execution_context(context)
Status FinalizeExecutionContext(const Invocation& call) { return call.guest.DropContext(call.arg(0)); }

// compute_single(context): the next piece of a generation.
Status ComputeSingle(const Invocation&, core::Context& context) { return context.Step(); }

// get_output_single(context, index, buffer_ptr, buffer_max, out_written)
Status GetOutputSingle(const Invocation& call, core::Context& context) {
  return StoreOutput(call, context, &core::Context::GetPiece, call.arg(1), call.arg(2), call.arg(3), call.arg(4));
}

// fini_single(context)
Status FiniSingle(const Invocation&, core::Context& context) { return context.Finish(); }

constexpr wasinn_function kWasmEdgeFunctions[] = {
    Row<"load_by_name_with_config", LoadByNameWithConfig>(kWasmEdgeModule, "iiiii", kRunsFramework),
    Row<"unload", Unload>(kWasmEdgeModule, "i", kRunsFramework),
    Row<"finalize_execution_context", FinalizeExecutionContext>(kWasmEdgeModule, "i", kRunsFramework),
    Row<"compute_single", ComputeSingle, WASINN_ERROR_END_OF_SEQUENCE>(kWasmEdgeModule, "i", kRunsFramework),
    Row<"get_output_single", GetOutputSingle, WASINN_ERROR_TOO_LARGE>(kWasmEdgeModule, "iiiii", kRunsFramework),
    Row<"fini_single", FiniSingle>(kWasmEdgeModule, "i", kRunsFramework),
};

}  // namespace

std::span<const wasinn_function> WasmEdgeFunctions() { return kWasmEdgeFunctions; }

}  // namespace wasinn::abi
