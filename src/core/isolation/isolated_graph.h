// A model in a worker.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/on_cancel.h"
#include "base/reservation.h"
#include "core/isolation/connection.h"
#include "core/isolation/isolated_backend.h"

namespace wasinn::isolation {

// For the time of a call without a limit of its own: if it has a deadline, interrupts the worker then.
class Deadline {
 public:
  // `options`: those of a load, or of a new slot. `number` is the object's.
  template <typename Options>
  Deadline(const Options& options, Connection& connection, uint32_t number)
      : registration_(options, [=, this, &connection] { interruption_.Interrupt(connection, number, 1); }) {}

 private:
  Connection::Interruption interruption_;
  const base::OnCancel registration_;  // last: it may call
};

class IsolatedGraph {
 public:
  static core::Result<std::unique_ptr<IsolatedGraph>> Load(IsolatedBackend& backend,
                                                           std::span<const wasinn_builder* const> builders,
                                                           const wasinn_load_options& options);
  ~IsolatedGraph();
  IsolatedGraph(const IsolatedGraph&) = delete;
  IsolatedGraph& operator=(const IsolatedGraph&) = delete;
  static IsolatedGraph& Of(wasinn_backend_graph* graph) { return *reinterpret_cast<IsolatedGraph*>(graph); }

  IsolatedBackend& backend() const { return backend_; }
  Connection& connection() const { return *connection_; }
  uint32_t number() const { return number_; }
  const wasinn_info& info() const { return info_; }
  const char* description() const { return description_; }
  bool has_dynamic_outputs() const { return info_.n_outputs == WASINN_COUNT_UNKNOWN; }
  std::span<const wasinn_io* const> outputs() const { return outputs_.all(); }

  // As input_memory of the table: makes a segment that the worker maps, too.
  core::Status Share(size_t bytes, wasinn_tensor& out);
  // The segment that begins at `data`; kArea: none does.
  uint32_t FindShared(const void* data) const;

 private:
  IsolatedGraph(IsolatedBackend& backend, std::shared_ptr<Connection> connection, void* account)
      : backend_(backend),
        connection_(std::move(connection)),
        number_(connection_->NewNumber()),
        reserved_(backend.services(), account),
        signature_bytes_(backend.services(), account) {}
  core::Status LoadThere(std::span<const wasinn_builder* const> builders, const wasinn_load_options& options);
  core::Status Read(Connection::Call& call);

  IsolatedBackend& backend_;
  const std::shared_ptr<Connection> connection_;
  const uint32_t number_;
  base::Reservation reserved_;
  base::Reservation signature_bytes_;
  std::vector<uint8_t> signature_;  // from the worker: the members below point there
  Ios inputs_, outputs_;
  wasinn_info info_{};
  const char* description_ = "{}";
  bool loaded_ = false;

  struct Shared;
  static void Unshare(void* shared);
  mutable std::mutex mutex_;
  std::map<const void*, uint32_t> shared_;  // guarded by mutex_: the beginnings of segments
};

}  // namespace wasinn::isolation
