#include "engines/wasmtime/component_run.h"

#include <wasinn/wasmtime.h>

#include <cstdio>
#include <utility>
#include <vector>

#include "engines/guest_run.h"
#include "engines/wasmtime/bytes.h"
#include "engines/wasmtime/component_handler.h"
#include "engines/wasmtime/errors.h"
#include "engines/wasmtime/handler_abi.h"
#include "engines/wasmtime/http_answer.h"
#include "engines/wasmtime/program_abi.h"
#include "engines/wasmtime/store_run.h"
#include "engines/wasmtime/wasi.h"

namespace wasinn::wasmtime {
namespace {

using engines::EngineOptions;
using engines::Exit;
using engines::Result;
using engines::RunOptions;

using ProgramPtr = std::unique_ptr<wasinn_component_program, Deleter<wasinn_component_program_delete>>;

// One linked component serves every guest, so the guest travels with the store.
wasinn_guest* GuestOf(wasmtime_context_t* context, void*) {
  return static_cast<wasinn_guest*>(wasmtime_context_get_data(context));
}

// The `user` of the call's functions. No exception may pass through Rust.
struct ProgramCalling {
  const engines::HttpPermission* may_send;
  const engines::GuestRun& run;

  static void Print(void*, wasinn_bytes line) { std::fwrite(line.data, 1, line.size, stdout); }
  static bool IsInterrupted(void* user) { return static_cast<const ProgramCalling*>(user)->run.interrupted(); }
  static bool AllowsIt(void* user, wasinn_bytes scheme, wasinn_bytes authority) {
    return Allows(*static_cast<const ProgramCalling*>(user)->may_send, scheme, authority);
  }
};

class ComponentProgram final : public engines::Program {
 public:
  ComponentProgram(EnginePtr engine, ProgramPtr program, LimitedCode code, bool is_invoked)
      : engine_(std::move(engine)), program_(std::move(program)), code_(std::move(code)), is_invoked_(is_invoked) {}

  Exit Run(const RunOptions& options) const override {
    return RunInStore(engine_, code_, options, [&](wasmtime_context_t* context, const engines::GuestRun& run) {
      return RunIn(context, options, run);
    });
  }

 private:
  Exit RunIn(wasmtime_context_t* context, const RunOptions& options, const engines::GuestRun& run) const {
    if (Result<void> wasi = SetWasi(context, options); !wasi) return Exit::Failed(wasi.error());
    wasinn_wasmtime_component_set_up(context, options.guest);
    std::vector<wasinn_bytes> words;
    for (size_t i = 1; is_invoked_ && i < options.args.size(); ++i) words.push_back(ToC(options.args[i]));
    ProgramCalling calling{options.may_send, run};
    const wasinn_program_call call = {.struct_size = sizeof call,
                                      .user = &calling,
                                      .words = words.data(),
                                      .n_words = words.size(),
                                      .print = ProgramCalling::Print,
                                      .is_interrupted = ProgramCalling::IsInterrupted,
                                      .allows = options.may_send != nullptr ? ProgramCalling::AllowsIt : nullptr};
    bool succeeded = false;
    wasmtime_error_t* error = wasinn_component_program_run(program_.get(), context, &call, &succeeded);
    if (error != nullptr) return ToExit(error);
    return {Exit::Kind::kExited, succeeded ? 0 : 1, ""};
  }

  EnginePtr engine_;
  ProgramPtr program_;
  LimitedCode code_;
  const bool is_invoked_;
};

Result<ComponentLinkerPtr> NewLinker(wasm_engine_t* engine, ProgramKind kind, bool has_http) {
  ComponentLinkerPtr linker(wasmtime_component_linker_new(engine));
  // First, because it shows whether this Wasmtime can serve components.
  auto linked = TakeStatus(wasinn_wasmtime_component_link(linker.get(), nullptr, GuestOf, nullptr));
  if (!linked) return std::unexpected(linked.error());
  if (wasinn_component_program_new == nullptr || wasinn_component_program_new_async == nullptr) {
    return std::unexpected(
        "this Wasmtime library is older than wasinn, and cannot run components; docs/components.md explains how to get "
        "one that can");
  }
  if (linked = LinkWasi(linker.get(), kind, has_http); !linked) return std::unexpected(linked.error());
  return linker;
}

}  // namespace

Result<std::unique_ptr<engines::Program>> LoadComponent(wasm_engine_t* engine, ProgramKind kind,
                                                        const EngineOptions& options,
                                                        const std::function<Result<ComponentPtr>()>& compile,
                                                        LimitedCode code) {
  Result<ComponentLinkerPtr> linker = NewLinker(engine, kind, options.http);
  if (!linker) return std::unexpected(linker.error());
  const Result<ComponentPtr> component = compile();
  if (!component) return std::unexpected(component.error());
  wasinn_component_program* program = nullptr;
  const wasinn_bytes invoke = ToC(options.invoke);
  auto made =
      TakeError(kind == ProgramKind::kAsyncComponent
                    ? wasinn_component_program_new_async(linker->get(), component->get(), invoke, &program)
                    : wasinn_component_program_new(linker->get(), component->get(), invoke, options.http, &program));
  if (!made) {
    const bool is_handler = options.invoke.empty() && ExportsHandler(component->get());
    return std::unexpected(made.error() +
                           (is_handler ? "; it answers HTTP requests: `wasinn serve --route` runs it" : ""));
  }
  return std::make_unique<ComponentProgram>(EnginePtr(wasmtime_engine_clone(engine)), ProgramPtr(program),
                                            std::move(code), !options.invoke.empty());
}

}  // namespace wasinn::wasmtime
