// The process that compiles: it reads a program from its standard input, keeps to its limits, and answers there.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <wasmtime.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "engines/wasm_file.h"
#include "engines/wasmtime/compile.h"
#include "engines/wasmtime/compiler_order.h"
#include "engines/wasmtime/errors.h"
#include "engines/wasmtime/handles.h"
#include "engines/wasmtime/new_engine.h"
#include "worker/limits.h"
#include "worker/self_status.h"

namespace wasinn::wasmtime {

using engines::Result;

std::array<std::string, CompilerOrder::kWords> CompilerOrder::ToWords() const {
  return {std::to_string(parent),
          std::to_string(static_cast<int>(task)),
          std::to_string(options.interruptible),
          std::to_string(options.metered),
          std::to_string(options.pool.instances != 0),  // code depends on whether there is a pool
          std::to_string(options.pool.memory_bytes),
          std::to_string(max_bytes)};
}

std::optional<CompilerOrder> CompilerOrder::FromWords(int n, char** words) {
  std::array<uint64_t, kWords> numbers = {};
  if (n != static_cast<int>(kWords)) return std::nullopt;
  for (size_t i = 0; i < kWords; ++i) {
    const std::string_view word = words[i];
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), numbers[i]);
    if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  }
  if (numbers[1] > static_cast<uint64_t>(CompilerTask::kText)) return std::nullopt;
  CompilerOrder order;
  order.parent = static_cast<pid_t>(numbers[0]);
  order.task = static_cast<CompilerTask>(numbers[1]);
  order.options.interruptible = numbers[2] != 0;
  order.options.metered = numbers[3] != 0;
  order.options.pool = {.instances = static_cast<uint32_t>(numbers[4]), .memory_bytes = numbers[5]};
  order.max_bytes = numbers[6];
  order.options.cache = false;
  return order;
}

namespace {

// After its parent's end, no process reads the result.
Result<void> EndWithParent(pid_t parent) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return std::unexpected("it cannot end with its parent");
  if (getppid() != parent) raise(SIGKILL);  // if it ended before
  return {};
}

// Compiles an empty function, so that Wasmtime's threads exist before the limit is set. If they get no memory, Wasmtime
// panics, and if the panic gets none either, it waits for itself.
Result<void> StartThreads(wasm_engine_t* engine) {
  static constexpr std::string_view kModule("\0asm\1\0\0\0\1\4\1\x60\0\0\3\2\1\0\x0a\4\1\2\0\x0b", 24);
  wasmtime_module_t* module = nullptr;
  auto made =
      TakeError(wasmtime_module_new(engine, reinterpret_cast<const uint8_t*>(kModule.data()), kModule.size(), &module));
  const ModulePtr owner(module);
  return made;
}

Result<void> LimitItself(uint64_t max_bytes) {
  worker::OfferToOutOfMemoryKiller();
  if (auto limited = worker::Limit(RLIMIT_CORE, "RLIMIT_CORE", 0); !limited) return limited;
  if (max_bytes == 0) return {};
  return worker::LimitMemory(worker::SelfStatus(), max_bytes);
}

Result<std::string> ReadProgram() {
  std::string wasm;
  std::array<char, 16384> part;
  for (;;) {
    const ssize_t got = read(STDIN_FILENO, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(std::string("it cannot read the program: ") + std::strerror(errno));
    if (got == 0) return wasm;
    wasm.append(part.data(), static_cast<size_t>(got));
  }
}

Result<std::string> Parse(const CompilerOrder& order) {
  if (Result<void> limited = LimitItself(order.max_bytes); !limited) return std::unexpected(limited.error());
  const Result<std::string> text = ReadProgram();
  return text ? engines::ParseText(*text, {}) : std::unexpected(text.error());
}

Result<std::string> Compile(const CompilerOrder& order) {
  const auto kind = static_cast<ProgramKind>(order.task);
  const bool threads = kind == ProgramKind::kThreads;
  const Result<EnginePtr> engine = NewEngine(threads ? ForThreads(order.options) : order.options, kind);
  if (!engine) return std::unexpected(engine.error());
  if (Result<void> started = StartThreads(engine->get()); !started) return std::unexpected(started.error());
  if (Result<void> limited = LimitItself(order.max_bytes); !limited) return std::unexpected(limited.error());
  Result<std::string> wasm = ReadProgram();
  if (!wasm) return std::unexpected(wasm.error());
  const engines::WasmFile program{engines::KindOf(*wasm), std::move(*wasm), ""};
  const Compiler compiler(order.options);
  if (kind == ProgramKind::kComponent || kind == ProgramKind::kAsyncComponent) {
    const Result<ComponentPtr> component = compiler.Component(engine->get(), kind, program);
    return component ? CodeOf(*component) : std::unexpected(component.error());
  }
  const Result<ModulePtr> module = compiler.Module(engine->get(), threads, program);
  return module ? CodeOf(*module) : std::unexpected(module.error());
}

bool SendAll(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(STDIN_FILENO, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

// Returns the exit code.
int Answer(const CompilerOrder& order) {
  const Result<std::string> made = order.task == CompilerTask::kText ? Parse(order) : Compile(order);
  const std::string& answer = made ? *made : made.error();
  const AnswerHead head = {.is_well = made.has_value(), .bytes = answer.size()};
  return SendAll({reinterpret_cast<const char*>(&head), sizeof head}) && SendAll(answer) ? 0 : 1;
}

}  // namespace
}  // namespace wasinn::wasmtime

namespace wasinn::engines {

std::optional<int> RunCompiler(int argc, char** argv) {
  if (argc == 0 || std::strcmp(argv[0], wasmtime::kCompilerName) != 0) return std::nullopt;
  const auto order = wasmtime::CompilerOrder::FromWords(argc - 1, argv + 1);
  if (!order) return 2;
  prctl(PR_SET_NAME, wasmtime::kCompilerName);  // only for lists of processes
  if (auto ends = wasmtime::EndWithParent(order->parent); !ends) return 1;
  try {
    return wasmtime::Answer(*order);
  } catch (const std::bad_alloc&) {
    return wasmtime::kNoMemory;
  }
}

}  // namespace wasinn::engines
