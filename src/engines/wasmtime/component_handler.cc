#include "engines/wasmtime/component_handler.h"

#include <wasinn/wasmtime.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "engines/guest_run.h"
#include "engines/wasmtime/component_service.h"
#include "engines/wasmtime/errors.h"
#include "engines/wasmtime/handler_abi.h"
#include "engines/wasmtime/http_answer.h"
#include "engines/wasmtime/store_run.h"
#include "engines/wasmtime/wasi.h"

namespace wasinn::wasmtime {
namespace {

using engines::Exit;
using engines::Result;
using engines::RunOptions;

using HandlerPtr = std::unique_ptr<wasinn_component_handler, Deleter<wasinn_component_handler_delete>>;

wasinn_guest* GuestOfHandler(wasmtime_context_t* context, void*) {
  return static_cast<wasinn_guest*>(wasmtime_context_get_data(context));
}

struct AnsweringInRun : Answering {
  const engines::HttpPermission* may_send;
  const engines::GuestRun& run;

  static AnsweringInRun& Of(void* user) { return *static_cast<AnsweringInRun*>(static_cast<Answering*>(user)); }
  static bool AllowsIt(void* user, wasinn_bytes scheme, wasinn_bytes authority) {
    return Allows(*Of(user).may_send, scheme, authority);
  }
  static bool IsInterrupted(void* user) { return Of(user).run.interrupted(); }
};

class HandlerProgram final : public engines::Program {
 public:
  HandlerProgram(EnginePtr engine, HandlerPtr handler, LimitedCode code)
      : engine_(std::move(engine)), handler_(std::move(handler)), code_(std::move(code)) {}

  bool AnswersHttp() const override { return true; }
  size_t memories() const override { return code_.memories.size(); }
  bool MayStay() const override { return wasinn_component_handler_may_stay(handler_.get()); }
  Result<std::unique_ptr<engines::Service>> Start(const RunOptions& options) const override {
    const Result<StoreLimits> limits = StoreLimits::New(code_, options);
    if (!limits) return std::unexpected(limits.error());
    return NewComponentService(EnginePtr(wasmtime_engine_clone(engine_.get())), handler_.get(), *limits, options);
  }

  Exit Run(const RunOptions& options) const override {
    if (!options.http) return Exit::Failed("the component answers HTTP requests, and there is none");
    return RunInStore(engine_, code_, options, [&](wasmtime_context_t* context, const engines::GuestRun& run) {
      return RunIn(context, options, *options.http, run);
    });
  }

 private:
  Exit RunIn(wasmtime_context_t* context, const RunOptions& options, const engines::HttpExchange& exchange,
             const engines::GuestRun& run) const {
    if (Result<void> wasi = SetWasi(context, options); !wasi) return Exit::Failed(wasi.error());
    wasinn_wasmtime_component_set_up(context, options.guest);
    const RequestToC request(*exchange.request);
    AnsweringInRun answering{{*exchange.sink}, options.may_send, run};
    const wasinn_http_answer answer = {.struct_size = sizeof answer,
                                       .user = static_cast<Answering*>(&answering),
                                       .begin = Answering::Begin,
                                       .write = Answering::Write,
                                       .fail = Answering::Fail,
                                       .refuse = Answering::Refuse,
                                       .is_interrupted = AnsweringInRun::IsInterrupted,
                                       .allows = options.may_send != nullptr ? AnsweringInRun::AllowsIt : nullptr};
    bool is_whole = false;
    wasmtime_error_t* error = wasinn_component_handle(handler_.get(), context, request.get(), &answer, &is_whole);
    if (is_whole) exchange.sink->End();
    return ToExit(error);
  }

  EnginePtr engine_;
  HandlerPtr handler_;
  LimitedCode code_;
};

}  // namespace

// Any compatible version: Wasmtime looks up exports by semver.
bool ExportsHandler(const wasmtime_component_t* component) {
  static constexpr std::string_view kHandlers[] = {"wasi:http/handler@0.3.0", "wasi:http/incoming-handler@0.2.0"};
  constexpr std::string_view kHandle = "handle";
  return std::ranges::any_of(kHandlers, [&](std::string_view handler) {
    const ExportIndexPtr interface(
        wasmtime_component_get_export_index(component, nullptr, handler.data(), handler.size()));
    if (interface == nullptr) return false;
    return ExportIndexPtr(wasmtime_component_get_export_index(component, interface.get(), kHandle.data(),
                                                              kHandle.size())) != nullptr;
  });
}

Result<void> LinkWasi(wasmtime_component_linker_t* linker, ProgramKind kind, bool has_http) {
  if (kind == ProgramKind::kAsyncComponent) return TakeError(wasinn_component_link_wasi03(linker, has_http));
  return TakeError(has_http ? wasinn_component_link_http(linker) : wasmtime_component_linker_add_wasip2(linker));
}

Result<std::unique_ptr<engines::Program>> LoadHandler(wasm_engine_t* engine, ProgramKind kind,
                                                      const std::function<Result<ComponentPtr>()>& compile,
                                                      LimitedCode code) {
  const ComponentLinkerPtr linker(wasmtime_component_linker_new(engine));
  // First, because it shows whether this Wasmtime can serve components.
  auto linked = TakeStatus(wasinn_wasmtime_component_link(linker.get(), nullptr, GuestOfHandler, nullptr));
  if (!linked) return std::unexpected(linked.error());
  if (wasinn_component_service_new == nullptr || wasinn_component_link_wasi03 == nullptr) {
    return std::unexpected(
        "this Wasmtime library cannot serve wasi:http; docs/components.md explains how to get one that can");
  }
  if (linked = LinkWasi(linker.get(), kind, true); !linked) return std::unexpected(linked.error());
  const Result<ComponentPtr> component = compile();
  if (!component) return std::unexpected(component.error());
  if (!ExportsHandler(component->get())) {
    return std::unexpected(
        "the component exports neither wasi:http/handler@0.3 nor wasi:http/incoming-handler@0.2, by which components "
        "answer requests");
  }
  wasinn_component_handler* handler = nullptr;
  linked = TakeError(wasinn_component_handler_new(linker.get(), component->get(), &handler));
  if (!linked) return std::unexpected(linked.error());
  return std::make_unique<HandlerProgram>(EnginePtr(wasmtime_engine_clone(engine)), HandlerPtr(handler),
                                          std::move(code));
}

}  // namespace wasinn::wasmtime
