// The wasinn command's view of a Wasm engine: it runs programs, core modules with WASI preview 1 and components with
// WASI 0.2 or 0.3.
//
// An Engine compiles programs; a Program is compiled code without state, run any number of times, even at once from
// several threads. Each engine is a folder next to this file and exports one New…Engine function.
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

// Receives a guest's output. Called from any thread, even concurrently; a last call may come after the run has ended.
class Sink {
 public:
  virtual ~Sink() = default;
  // Writes all of it. False: the guest gets an error.
  virtual bool Write(std::string_view bytes) noexcept = 0;
};

// The streams of a run, instead of this process's own.
struct Streams {
  std::string_view input;  // outlives every thread that the run leaves behind: each thread copies it at its beginning
  std::shared_ptr<Sink> output, error;
};

// The options of one run of a program.
struct RunOptions {
  std::vector<std::string> args;  // args[0] is the program's own name
  std::vector<std::pair<std::string, std::string>> env;
  std::vector<Directory> directories;
  std::optional<Streams> streams;    // no value: this process's own
  std::optional<HttpExchange> http;  // only for a program that answers requests
  // The requests that a guest with wasi:http may send; outlives the run. NULL: none.
  const HttpPermission* may_send = nullptr;
  bool inherit_network = false;  // sockets to any address, if the engine has sockets
  // Serves the guest's wasi-nn calls. Run closes it before the guest's memory is freed; the caller frees it. NULL:
  // calls get an error.
  wasinn_guest* guest = nullptr;
  uint32_t max_threads = 64;  // at once, in addition to its first
  // As in wasinn_limits. If an engine cannot enforce a limit, the run fails.
  uint64_t max_memory_bytes = UINT64_MAX;
  uint64_t max_table_elements = UINT64_MAX;
  uint64_t max_fuel = 0;
};

// The end of a run.
struct Exit {
  enum class Kind {
    kExited,      // by itself
    kTrapped,     // code is 134, as for a process that aborts
    kFailed,      // it could not start, or the host failed it; code is 125, as in env and timeout
    kInterrupted  // its deadline passed, or it was stopped; code is 124, as in timeout
  };
  Kind kind = Kind::kExited;
  int code = 0;
  std::string message;  // "" if it exited; one line, which a backtrace may follow

  static Exit Trapped(std::string why) { return {Kind::kTrapped, 128 + 6, std::move(why)}; }
  static Exit Failed(std::string why) { return {Kind::kFailed, 125, std::move(why)}; }
  static Exit Interrupted(std::string why) { return {Kind::kInterrupted, 124, std::move(why)}; }
};

// An instance that answers requests one after the other, and at once. It has no thread: those that wait for answers run
// it in turns. A trap, the end of its fuel or a request that is not done in time end it, and with it all its requests.
class Service {
 public:
  virtual ~Service() = default;
  // Any thread. No value: it had ended before, and has not seen the request.
  virtual std::optional<Exit> Answer(const HttpExchange& exchange) = 0;
  virtual bool has_ended() const = 0;
};

class Program {
 public:
  virtual ~Program() = default;
  virtual Exit Run(const RunOptions& options) const = 0;
  // Whether a run is the answer to a request.
  virtual bool AnswersHttp() const { return false; }
  // The most that a run has.
  virtual size_t memories() const { return 1; }
  // Whether Start is possible.
  virtual bool MayStay() const { return false; }
  // The options are those of a run without `http`; `max_fuel` is each request's. The guest and what the options refer
  // to outlive the service, and so does this program.
  virtual Result<std::unique_ptr<Service>> Start(const RunOptions&) const {
    return std::unexpected("this program answers one request in each run");
  }
};

class Engine {
 public:
  virtual ~Engine() = default;
  // Reads and compiles the module or component in a file, wasm or text, and checks that every import can be served.
  virtual Result<std::unique_ptr<Program>> Load(const std::string& path) const = 0;
  // As Load. Returns the compiled code as the bytes of a file that Load of such an engine accepts if it is allowed to.
  virtual Result<std::string> Compile(const std::string& path) const = 0;
};

// An engine can take guests' memories and tables from a pool that exists from the beginning.
struct Pool {
  uint32_t instances = 0;     // at once, with one memory each; 0: no pool
  uint64_t memory_bytes = 0;  // the limit of a memory, for which address space is reserved; 0: 4 GiB
};

// Limits for compiling one program. If there is a limit, another process compiles: this program starts itself again,
// and its main calls RunCompiler.
struct CompileLimits {
  uint64_t max_bytes = 0;   // of memory; 0: no limit
  uint32_t timeout_ms = 0;  // 0: no limit
  bool Any() const { return max_bytes != 0 || timeout_ms != 0; }
};

// How a profiler of the machine finds the functions of compiled code.
enum class Profile { kNone, kPerfMap, kJitDump };

// An engine's library; the version is "" if there is none.
struct EngineVersion {
  std::string version;
  std::string library;  // the loaded file; "": it is part of this program
};

struct EngineOptions {
  bool cache = true;                     // keep compiled modules in the user's cache folder, if the engine compiles
  std::vector<Directory> guest_folders;  // that guests may use: none of them contains the cache
  // Run files from an engine's compiler. They are native code, which no sandbox confines.
  bool allow_precompiled = false;
  Pool pool;
  CompileLimits compile;  // if the engine compiles
  // Checks in compiled code, which make it slower: for interrupts of its run, and for fuel. Without the first, code of
  // one thread only ends at a call.
  bool interruptible = false;
  bool metered = false;
  Profile profile = Profile::kNone;
  // The exported function that runs instead of the program, with a run's arguments as its parameters; "": none.
  std::string invoke;
  bool http = false;  // give wasi:http to programs that are components
  // The host goes on after its programs, which must leave nothing behind: core modules with Streams and without
  // threads, or components that answer requests. None has a shared memory to wait in, and a sleep ends with its run.
  bool served = false;
  // Reports problems that stop nothing, such as a cache that cannot be written. May be empty.
  std::function<void(const std::string&)> warn;
  // Called before a program of this file and size is compiled; `is_kept`: later starts find the code in the cache. May
  // be empty.
  std::function<void(const std::string& path, size_t bytes, bool is_kept)> compiling = nullptr;
};

Result<std::unique_ptr<Engine>> NewWasmtimeEngine(const EngineOptions& options);
// An error if wasinn was built without WAMR.
Result<std::unique_ptr<Engine>> NewWamrEngine(const EngineOptions& options);

// Compiles in a process started for that; returns its exit code. No value: another process. main() begins with it.
std::optional<int> RunCompiler(int argc, char** argv);

// Wasmtime does not report its version at run time: this is the version of the headers at compile time.
EngineVersion WasmtimeVersion();
// Whether the loaded Wasmtime has what serves components.
bool WasmtimeRunsComponents();
EngineVersion WamrVersion();  // of the loaded library

}  // namespace wasinn::engines
