// The parts of every function for core modules: decoding from guest memory, writing results into it, and the way of a
// call into the core and back.
#pragma once

#include <wasinn/engine.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "abi/profiles.h"
#include "core/host/guest.h"
#include "core/memory/guest_memory.h"

namespace wasinn::abi {

// Module `wasi_ephemeral_nn`: the six of wasi-nn.witx (https://github.com/WebAssembly/wasi-nn), and WasmEdge's extensions.
std::span<const wasinn_function> WitxFunctions();
// wasinn's own, module `wasinn_ext_0`.
std::span<const wasinn_function> ExtensionFunctions();
// WAMR's module `wasi_nn`.
std::span<const wasinn_function> LegacyFunctions();
// All of them.
std::span<const wasinn_function* const> AllFunctions();

// Begins a call that may need no thread: compute or compute_wait. Runs on a thread of the host, under a presence that
// lasts until `done` has returned. True: `done` is called once with the errno, perhaps at once. False: nothing was done,
// and the call goes the usual way. Everything that `call` points to outlives it.
bool BeginWithoutThread(const wasinn_call& call, const std::function<void(uint32_t)>& done) noexcept;

inline uint32_t FirstArgument(const void* args) {
  uint32_t value;
  std::memcpy(&value, args, sizeof value);
  return value;
}

// The call that a function handles.
struct Invocation {
  core::Guest& guest;
  const Profile& profile;
  core::GuestMemory memory;
  const uint8_t* args;
  size_t stride;

  uint32_t arg(size_t index) const { return FirstArgument(args + index * stride); }
};

using Parts = std::vector<std::span<const uint8_t>>;
// `count` lists of bytes {address, size}, at `address`.
core::Result<Parts> DecodeBuilders(const Invocation& call, uint32_t address, uint32_t count);
core::Result<const char*> DecodeEncoding(const Invocation& call, uint32_t number);
core::Result<wasinn_target> DecodeTarget(const Invocation& call, uint32_t number);
// A copy, since it is looked up and quoted while other threads of the guest may run. Longer than `limit`: too_large.
core::Result<std::string> DecodeText(const Invocation& call, const char* what, uint32_t address, uint32_t size,
                                     uint32_t limit);
core::Result<std::string> DecodeName(const Invocation& call, const char* what, uint32_t address, uint32_t size);
// `count` dimensions, u32 each, into `tensor`.
core::Status DecodeDims(const Invocation& call, uint32_t address, uint32_t count, core::TensorDesc& tensor);
// A tensor in the layout of wasi-nn.witx. Reads the descriptor once; all later checks use this copy.
core::Status DecodeTensor(const Invocation& call, uint32_t address, core::TensorDesc& tensor,
                          std::span<const uint8_t>& data);
// Checks the address of a result before the work is done, so that the guest gets every object that is made.
core::Status CheckResult(const Invocation& call, uint32_t address);
core::Status StoreResult(const Invocation& call, uint32_t address, uint32_t value);
core::Status StoreHandle(const Invocation& call, uint32_t address, core::Result<uint32_t> handle);
// Writes text into a buffer of the guest. If it is too small: too_large, and the needed size goes to `written`.
core::Status StoreText(const Invocation& call, uint32_t address, uint32_t size, uint32_t written,
                       std::string_view text);
// The same for output `index` of a context, or for its newest piece.
using OutputOf = core::Status (core::Context::*)(uint32_t index, std::span<uint8_t> buffer, uint64_t& size);
core::Status StoreOutput(const Invocation& call, core::Context& context, OutputOf get, uint32_t index, uint32_t address,
                         uint32_t size, uint32_t written);

// How the errors of a function are reported.
struct Errors {
  const char* function;
  // A code that is no failure of the guest and fills no log: the guest asked for a size with a buffer that is too small.
  wasinn_code answer;
  const Profile* profile;  // NULL: that of the guest's dialect
};

// The errno for the guest of what `function` returns; the log gets its error.
template <typename F>
uint32_t ErrnoOf(const Errors& errors, const Invocation& call, const F& function) noexcept {
  try {
    const core::Status status = core::Guarded(function);
    if (status.ok()) return 0;
    if (status.code() != errors.answer) call.guest.Report(errors.function, status);
    return call.profile.error(status.code());
  } catch (...) {  // not even memory for the message
    return call.profile.error(WASINN_ERROR_RUNTIME);
  }
}

// Runs `function` with the guest's presence and memory, and turns its error into a line of the log and an errno.
using Function = core::Status (*)(const Invocation&);
uint32_t Enter(const Errors& errors, Function function, wasinn_guest* guest, const wasinn_memory* memory,
               const void* args, size_t stride) noexcept;
// The same for a function whose first argument is a context.
using ContextFunction = core::Status (*)(const Invocation&, core::Context&);
uint32_t Enter(const Errors& errors, ContextFunction function, wasinn_guest* guest, const wasinn_memory* memory,
               const void* args, size_t stride) noexcept;

// In a constexpr table, a signature that wasinn.h does not allow does not compile.
constexpr const char* Params(const char* letters) {
  const std::string_view params(letters);
  if (params.size() > WASINN_MAX_PARAMS || params.find_first_not_of('i') != params.npos) throw "no such signature";
  return letters;
}

// A row of a table of functions.
template <size_t kSize>
struct FunctionName {
  // NOLINTNEXTLINE(google-explicit-constructor): a literal becomes a template argument only implicitly
  constexpr FunctionName(const char (&given)[kSize]) { std::copy_n(given, kSize, text); }
  char text[kSize];
};
template <FunctionName kName, auto kFunction, wasinn_code kAnswer = WASINN_OK, const Profile* kProfile = nullptr>
constexpr wasinn_function Row(const char* module, const char* params, uint32_t flags = 0) {
  return {sizeof(wasinn_function),
          flags,
          module,
          kName.text,
          Params(params),
          "i",
          [](wasinn_guest* guest, const wasinn_memory* memory, const void* args, size_t stride) {
            return Enter({kName.text, kAnswer, kProfile}, kFunction, guest, memory, args, stride);
          }};
}
// Functions that load or compute, or may wait for one that does: the length of a prompt, for example, is part of what a
// language model computes.
inline constexpr uint32_t kRunsFramework = WASINN_FUNCTION_MAY_BLOCK | WASINN_FUNCTION_LARGE_STACK;

// Functions of more than one module.
// load_by_name(name_ptr, name_len, out_graph), init_execution_context(graph, out_context), compute(context)
core::Status LoadByName(const Invocation& call);
core::Status InitExecutionContext(const Invocation& call);
core::Status Compute(const Invocation& call, core::Context& context);
// compute_begin(context), compute_poll(context), compute_cancel(context), compute_wait(contexts_ptr, contexts_len,
// timeout_ms, out_index)
core::Status ComputeBegin(const Invocation& call);
core::Status ComputePoll(const Invocation& call);
core::Status ComputeCancel(const Invocation& call);
core::Status ComputeWait(const Invocation& call);
// compute_once(graph_or_context, inputs_ptr, inputs_len, outputs_ptr, outputs_len)
core::Status ComputeOnce(const Invocation& call);

}  // namespace wasinn::abi
