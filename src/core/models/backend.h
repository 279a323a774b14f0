// An opened backend: the C table of wasinn/backend.h with ownership and errors in C++.
#pragma once

#include <wasinn/backend.h>

#include <functional>
#include <memory>
#include <string>

#include "core/runtime/log.h"
#include "core/status.h"

namespace wasinn::core {

class Backend {
 public:
  // Reads a library's table as this version knows it: fields beyond the table's struct_size are absent. An error names
  // the table's version, if it is another one, or the required function that is missing.
  static Result<wasinn_backend> ReadTable(const wasinn_backend& table);
  // Opens the framework. `table` comes from ReadTable, `config` is the text of a JSON object. `logger` must outlive the
  // backend.
  static Result<std::shared_ptr<Backend>> Open(const wasinn_backend& table, const Logger& logger, uint32_t threads,
                                               const std::string& config);
  // As above, for a table whose state is made in another way, like a worker's. `open` may use the services as long as
  // the backend lives. `hooks` implement the functions of the same names.
  struct Hooks {
    void (*abandon)(wasinn_backend_state* state) = nullptr;
    bool (*is_lost)(wasinn_backend_graph* graph) = nullptr;
  };
  using Opener = std::function<Result<wasinn_backend_state*>(const wasinn_host_services& services)>;
  static Result<std::shared_ptr<Backend>> OpenBy(const wasinn_backend& table, const Logger& logger, uint32_t threads,
                                                 const Opener& open, const Hooks& hooks);
  ~Backend();
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  // Its objects are not needed any more: calls fail at once, and objects are freed at once. Only after OpenBy.
  void Abandon() { hooks_.abandon(state_); }
  // Whether the process that ran the model is known to be gone.
  bool IsLost(wasinn_backend_graph* graph) const { return hooks_.is_lost != nullptr && hooks_.is_lost(graph); }

  const wasinn_backend& table() const { return table_; }
  wasinn_backend_state* state() const { return state_; }
  Result<wasinn_backend_info> Info() const;

  // Logs what the backend did, in the form of its own messages.
  void LogOwn(wasinn_log_level level, const char* message) const noexcept { Log(services_.host, level, message); }

  // Takes over an error of this backend; NULL is success.
  Status Take(wasinn_error* error) const { return error == nullptr ? Status() : TakeError(table_, *error); }

 private:
  Backend(const wasinn_backend& table, const Logger& logger, uint32_t threads);
  static Status TakeError(const wasinn_backend& table, wasinn_error& error);
  static void Log(void* host, uint32_t level, const char* message) noexcept;
  // An account is a Quota.
  static uint32_t Reserve(void* host, void* account, int64_t bytes) noexcept;

  const wasinn_backend table_;
  const Logger& logger_;
  mutable LogLimit log_limit_;
  wasinn_host_services services_;
  wasinn_backend_state* state_ = nullptr;
  Hooks hooks_;
};

// Checks that `json` is an object and that the backend knows each of its keys for this use (WASINN_KEY_*).
Status CheckBackendKeys(const wasinn_backend& table, uint32_t where, const std::string& json);

}  // namespace wasinn::core
