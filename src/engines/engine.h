// What the wasinn command asks of a Wasm engine: to run programs, core modules with WASI preview 1 and components with
// WASI preview 2.
//
// An Engine compiles programs; a Program is compiled code without state, run any number of times, also at once from
// several threads. Each engine is a folder beside this file and exports one New…Engine function.
#pragma once

#include <wasinn/wasinn.h>

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engines/http_exchange.h"

namespace wasinn::engines {

// Errors are one line without the name of the program that reports them.
template <typename T>
using Result = std::expected<T, std::string>;

// A folder of the host that the guest may use, under the guest's name for it.
struct Directory {
  std::string host;
  std::string guest;
  bool read_only = false;
};

// Where what a guest writes goes. Any thread, several at once; a last call may come when the run has ended.
class Sink {
 public:
  virtual ~Sink() = default;
  // All of it. False: the guest gets an error for it.
  virtual bool Write(std::string_view bytes) noexcept = 0;
};

// What a run reads and writes in place of this process's own streams.
struct Streams {
  std::string_view input;  // outlives every thread that the run leaves behind: each copies it when it begins
  std::shared_ptr<Sink> output, error;
};

// What one run of a program gets.
struct RunOptions {
  std::vector<std::string> args;  // args[0] is the program's own name
  std::vector<std::pair<std::string, std::string>> env;
  std::vector<Directory> directories;
  std::optional<Streams> streams;    // none: this process's own
  std::optional<HttpExchange> http;  // for a program that answers requests, and only for that
  // Whom a guest with wasi:http may send requests to; outlives the run. NULL: nobody.
  const HttpPermission* may_send = nullptr;
  bool inherit_network = false;  // sockets to any address, where the engine has sockets
  // Serves the guest's wasi-nn calls. Closed by Run before the guest's memory goes; freed by the caller. NULL: calls
  // get an error.
  wasinn_guest* guest = nullptr;
  uint32_t max_threads = 64;  // that it may have at once beside its first
  // As in wasinn_limits. What an engine cannot hold a guest to is an error of the run.
  uint64_t max_memory_bytes = UINT64_MAX;
  uint64_t max_table_elements = UINT64_MAX;
  uint64_t max_fuel = 0;
};

// How a run ended.
struct Exit {
  enum class Kind {
    kExited,      // by itself
    kTrapped,     // code is 134, as for a process that aborts
    kFailed,      // it could not start, or the host failed it; code is 125, as env and timeout have it
    kInterrupted  // its deadline passed, or it was stopped; code is 124, that of timeout
  };
  Kind kind = Kind::kExited;
  int code = 0;
  std::string message;  // "" if it exited; one line, which a backtrace may follow

  static Exit Trapped(std::string why) { return {Kind::kTrapped, 128 + 6, std::move(why)}; }
  static Exit Failed(std::string why) { return {Kind::kFailed, 125, std::move(why)}; }
  static Exit Interrupted(std::string why) { return {Kind::kInterrupted, 124, std::move(why)}; }
};

class Program {
 public:
  virtual ~Program() = default;
  virtual Exit Run(const RunOptions& options) const = 0;
  // Whether a run is the answer to a request.
  virtual bool AnswersHttp() const { return false; }
};

class Engine {
 public:
  virtual ~Engine() = default;
  // Reads and compiles the module or component in a file, wasm or text, and checks that every import can be served.
  virtual Result<std::unique_ptr<Program>> Load(const std::string& path) const = 0;
  // The same, and what it compiled as the bytes of a file that Load of such an engine takes where it may.
  virtual Result<std::string> Compile(const std::string& path) const = 0;
};

// Where an engine has its guests' memories and tables from a pool that is there from the beginning, in place of new ones.
struct Pool {
  uint32_t instances = 0;     // at once, with one memory each; 0: no pool
  uint64_t memory_bytes = 0;  // that a memory may have, for which address space is taken; 0: 4 GiB
};

// What compiling one program may take. With a limit, a process of its own compiles: this program, started once more, whose
// main calls RunCompiler.
struct CompileLimits {
  uint64_t max_bytes = 0;   // of memory; 0: any
  uint32_t timeout_ms = 0;  // 0: any
  bool Any() const { return max_bytes != 0 || timeout_ms != 0; }
};

// What tells a profiler of the machine's which function compiled code is of.
enum class Profile { kNone, kPerfMap, kJitDump };

// An engine's library; the version is "" where there is none.
struct EngineVersion {
  std::string version;
  std::string library;  // the file that is loaded; "": it is part of this program
};

struct EngineOptions {
  bool cache = true;                     // keep compiled modules in the user's cache folder, where the engine compiles
  std::vector<Directory> guest_folders;  // that guests may use: the cache is in none of them
  // Run files that an engine's compiler made. They are native code, which no sandbox holds.
  bool allow_precompiled = false;
  Pool pool;
  CompileLimits compile;  // where the engine compiles
  // What code is compiled with, which makes it slower: a look whether its run is interrupted, and a count of its fuel.
  // Without the first, compiled code of one thread goes on until it calls.
  bool interruptible = false;
  bool metered = false;
  Profile profile = Profile::kNone;
  // The exported function that runs in place of the program, with a run's arguments as its parameters; "": none.
  std::string invoke;
  bool http = false;  // give wasi:http to programs that are components
  // The host goes on after its programs, so nothing of one may be left: they are core modules with Streams and without threads, or
  // components that answer requests; none has a shared memory, in which it could wait; and a sleep ends with its run.
  bool served = false;
  // What goes wrong without stopping anything, such as a cache that cannot be written. May be empty.
  std::function<void(const std::string&)> warn;
};

Result<std::unique_ptr<Engine>> NewWasmtimeEngine(const EngineOptions& options);
// An error where wasinn was built without WAMR.
Result<std::unique_ptr<Engine>> NewWamrEngine(const EngineOptions& options);

// What a process does that was started to compile, and its exit code. Nothing: this one was not. main() begins with it.
std::optional<int> RunCompiler(int argc, char** argv);

// Wasmtime tells no version when it runs: this is that of the headers that were compiled against.
EngineVersion WasmtimeVersion();
EngineVersion WamrVersion();  // of the library that is loaded

}  // namespace wasinn::engines
