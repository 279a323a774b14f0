#include "engines/wasmtime/errors.h"

#include <string_view>
#include <utility>

#include "engines/one_line.h"

namespace wasinn::wasmtime {
namespace {

using engines::Exit;
using engines::OneLine;

std::string Take(wasm_name_t* name) {
  std::string_view text(name->data, name->size);
  while (text.ends_with('\0') || text.ends_with('\n')) text.remove_suffix(1);
  std::string result(text);
  wasm_name_delete(name);
  return result;
}

std::string Message(const wasmtime_error_t* error) {
  wasm_name_t message;
  wasmtime_error_message(error, &message);
  std::string text = Take(&message);
  // Wasmtime's message names parts of the pool that the user did not configure.
  if (text.find("maximum concurrent limit of ") != text.npos) {
    return "the engine's pool is full (engine.pool_instances): " + text;
  }
  return text;
}

// Moves the cause before the place. Wasmtime puts the place first.
std::string CauseFirst(const std::string& message) {
  constexpr std::string_view kWhere = "error while executing at wasm backtrace:\n";
  constexpr std::string_view kCause = "\n\nCaused by:\n";
  const size_t cause = message.rfind(kCause);
  if (!message.starts_with(kWhere) || cause == message.npos) return OneLine(message);
  return OneLine(std::string_view(message).substr(cause + kCause.size())) + "\nwasm backtrace:\n" +
         message.substr(kWhere.size(), cause - kWhere.size());
}

// Whether guest code was running.
bool HappenedInGuest(const wasmtime_error_t* error) {
  wasm_frame_vec_t frames;
  wasmtime_error_wasm_trace(error, &frames);
  const bool any = frames.size > 0;
  wasm_frame_vec_delete(&frames);
  return any;
}

}  // namespace

engines::Result<void> TakeError(wasmtime_error_t* error) {
  if (error == nullptr) return {};
  std::string line = OneLine(Message(error));
  wasmtime_error_delete(error);
  return std::unexpected(std::move(line));
}

engines::Result<void> TakeStatus(wasinn_status* status) {
  if (status == nullptr) return {};
  std::string line = OneLine(wasinn_status_message(status));
  wasinn_status_free(status);
  return std::unexpected(std::move(line));
}

Exit ToExit(wasmtime_error_t* error, wasm_trap_t* trap) {
  if (trap != nullptr) {
    wasm_message_t message;
    wasm_trap_message(trap, &message);
    wasm_trap_delete(trap);
    return Exit::Trapped(CauseFirst(Take(&message)));
  }
  if (error == nullptr) return {};
  Exit exit;
  if (!wasmtime_error_exit_status(error, &exit.code)) exit = Exit::Failed(CauseFirst(Message(error)));
  wasmtime_error_delete(error);
  return exit;
}

Exit ToExit(wasmtime_error_t* error) {
  const bool was_in_guest = error != nullptr && HappenedInGuest(error);
  Exit exit = ToExit(error, nullptr);
  // Some traps have no place, as that of tasks which all wait for each other.
  const bool trapped = was_in_guest || exit.message.starts_with("wasm trap: ");
  return trapped && exit.kind == Exit::Kind::kFailed ? Exit::Trapped(std::move(exit.message)) : exit;
}

}  // namespace wasinn::wasmtime
