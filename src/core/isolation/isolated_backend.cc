#include "core/isolation/isolated_backend.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "core/inference/on_behalf.h"
#include "core/isolation/isolated_graph.h"
#include "core/isolation/isolated_slot.h"

namespace wasinn::isolation {

// ---- Zygotes

core::Result<std::shared_ptr<Counters>> Zygotes::TakePlace() {
  if (counters_.alive.fetch_add(1, std::memory_order_relaxed) >= max_workers_) {
    counters_.alive.fetch_sub(1, std::memory_order_relaxed);
    counters_.refused.fetch_add(1, std::memory_order_relaxed);
    return core::Fail(WASINN_ERROR_UNAVAILABLE, "{} workers run already, for this and other guests (max_workers)",
                      max_workers_);
  }
  return std::shared_ptr<Counters>(&counters_, [self = shared_from_this()](Counters* counters) {
    counters->alive.fetch_sub(1, std::memory_order_relaxed);
  });
}

std::shared_ptr<Zygotes::Entry> Zygotes::Find(const Setting& setting) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Entry>& entry = entries_[{setting.backend, setting.has_devices, setting.op_libraries}];
  if (entry == nullptr) entry = std::make_shared<Entry>();
  return entry;
}

core::Result<std::shared_ptr<Zygote>> Zygotes::Get(const Setting& setting) {
  const std::shared_ptr<Entry> entry = Find(setting);
  const std::lock_guard lock(entry->starting);
  if (entry->made == nullptr) {
    // A zygote that has opened a device keeps memory there. A zygote with libraries of operators serves few models.
    ASSIGN_OR_RETURN(entry->made,
                     Zygote::Start(setting, spare_workers_ && !setting.has_devices && setting.op_libraries.empty()));
  }
  return entry->made;
}

void Zygotes::Forget(const Setting& setting, const std::shared_ptr<Zygote>& gone) {
  const std::shared_ptr<Entry> entry = Find(setting);
  const std::lock_guard lock(entry->starting);
  if (entry->made == gone) entry->made.reset();
}

// ---- Workers

core::Result<wasinn_backend_state*> IsolatedBackend::Open(std::shared_ptr<Zygotes> zygotes, Setting setting,
                                                          const wasinn_host_services& services) {
  std::unique_ptr<IsolatedBackend> backend(new IsolatedBackend(std::move(zygotes), std::move(setting), services));
  ASSIGN_OR_RETURN(auto connection, backend->Connect());
  backend->framework_ = connection->framework();
  const Framework& it = backend->framework_;
  backend->info_ = {.struct_size = sizeof(wasinn_backend_info),
                    .framework = it.name.c_str(),
                    .version = it.version.c_str(),
                    .library = it.library.c_str(),
                    .devices = it.devices.c_str()};
  return reinterpret_cast<wasinn_backend_state*>(backend.release());
}

core::Result<std::shared_ptr<Connection>> IsolatedBackend::Start() {
  ASSIGN_OR_RETURN(auto place, zygotes_->TakePlace());
  const auto log = [this](uint32_t level, const char* message) { services_.log(services_.host, level, message); };
  for (int attempt = 0;; ++attempt) {
    ASSIGN_OR_RETURN(auto parent, zygotes_->Get(setting_));
    auto connection = Connection::Start(parent, place, setting_, log, zygotes_->clock());
    if (connection || attempt > 0) return connection;
    if (parent->gone()) {
      zygotes_->Forget(setting_, parent);
    } else if (connection.error().code() != WASINN_ERROR_LOST) {  // a worker that was ended before it served anyone
      return connection;
    }
  }
}

// The caller holds `mutex_`, for the next two functions, too.
core::Status IsolatedBackend::BackoffOf(uint64_t guest, core::Clock::time_point now) const {
  const auto left = backoffs_.Left(guest, now);
  if (!left) return {};
  const char* const what = guest == 0
                               ? "its workers ended {} times in a row: no model is loaded for {} ms more"
                               : "calls of this guest ended its worker {} times in a row: it has none for {} ms more";
  return core::Status(WASINN_ERROR_UNAVAILABLE,
                      fmt::format(fmt::runtime(what), backoffs_.most_in_a_row(guest), left->count()), setting_.backend);
}

void IsolatedBackend::NoteEnd(core::Clock::time_point now) {
  if (connection_ == nullptr || !connection_->lost()) return;
  const std::vector<uint64_t> suspects = connection_->Suspects();
  connection_.reset();
  was_lost_ = true;
  backoffs_.AddDeath(suspects, now);
  has_suspects_.store(backoffs_.any(), std::memory_order_release);
}

core::Status IsolatedBackend::CheckBackoff() {
  const core::Clock::time_point now = zygotes_->clock().now();
  NoteEnd(now);
  return BackoffOf(0, now);
}

core::Status IsolatedBackend::CheckSuspect() {
  const uint64_t guest = core::OnBehalf::guest();
  const std::lock_guard lock(mutex_);
  return guest == 0 ? core::Status() : BackoffOf(guest, zygotes_->clock().now());
}

void IsolatedBackend::ClearCaller() noexcept {
  if (!has_suspects_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(mutex_);
  backoffs_.Clear(core::OnBehalf::guest());
}

void IsolatedBackend::Abandon() {
  const std::lock_guard lock(mutex_);
  if (connection_ != nullptr) connection_->Abandon();
}

core::Result<std::shared_ptr<Connection>> IsolatedBackend::Connect() {
  const std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(CheckBackoff());
  if (connection_ == nullptr) {
    ASSIGN_OR_RETURN(auto started, Start());
    if (std::exchange(was_lost_, false)) zygotes_->CountRestart();
    connection_ = std::move(started);
  }
  return connection_;
}

// ---- The table

namespace {

wasinn_error* OutOfMemory() noexcept {
  static constinit wasinn_error error = {sizeof(wasinn_error), WASINN_ERROR_TOO_LARGE, "out of memory",
                                         [](wasinn_error*) {}};
  return &error;
}

// NULL for success.
wasinn_error* ToError(const core::Status& status) noexcept {
  if (status.ok()) return nullptr;
  const std::string_view text = status.message();
  void* memory = std::malloc(sizeof(wasinn_error) + text.size() + 1);
  if (memory == nullptr) return OutOfMemory();
  char* message = static_cast<char*>(memory) + sizeof(wasinn_error);
  std::memcpy(message, text.data(), text.size());
  message[text.size()] = '\0';
  return new (memory) wasinn_error{sizeof(wasinn_error), static_cast<uint32_t>(status.code()), message,
                                   [](wasinn_error* error) { std::free(error); }};
}

// Catches all exceptions: none may pass through C.
template <typename Function>
wasinn_error* CatchAll(Function&& function) noexcept {
  try {
    return ToError(function());
  } catch (const std::bad_alloc&) {
    return OutOfMemory();
  } catch (const std::exception& error) {
    return ToError(core::Status(WASINN_ERROR_RUNTIME, error.what()));
  }
}

IsolatedSlot& Of(wasinn_backend_slot* slot) { return IsolatedSlot::Of(slot); }

void AddGraphs(wasinn_backend& table) {
  table.load = [](wasinn_backend_state* backend, const wasinn_builder* const* builders, size_t n,
                  const wasinn_load_options* options, wasinn_backend_graph** out) {
    return CatchAll([&]() -> core::Status {
      ASSIGN_OR_RETURN(auto graph, IsolatedGraph::Load(IsolatedBackend::Of(backend), {builders, n}, *options));
      *out = reinterpret_cast<wasinn_backend_graph*>(graph.release());
      return core::Status();
    });
  };
  table.unload = [](wasinn_backend_graph* graph) { delete &IsolatedGraph::Of(graph); };
  table.info = [](wasinn_backend_graph* graph, const wasinn_info** out) -> wasinn_error* {
    *out = &IsolatedGraph::Of(graph).info();
    return nullptr;
  };
  table.input_memory = [](wasinn_backend_graph* graph, size_t bytes, wasinn_tensor* out) {
    return CatchAll([&]() -> core::Status { return IsolatedGraph::Of(graph).Share(bytes, *out); });
  };
  if (table.describe != nullptr) {
    table.describe = [](wasinn_backend_graph* graph) { return IsolatedGraph::Of(graph).description(); };
  }
}

void AddSlots(wasinn_backend& table) {
  table.slot_new = [](wasinn_backend_graph* graph, const wasinn_slot_options* options, wasinn_backend_slot** out) {
    return CatchAll([&]() -> core::Status {
      ASSIGN_OR_RETURN(auto slot, IsolatedSlot::Make(IsolatedGraph::Of(graph), *options));
      *out = reinterpret_cast<wasinn_backend_slot*>(slot.release());
      return core::Status();
    });
  };
  table.slot_free = [](wasinn_backend_slot* slot) { delete &Of(slot); };
  table.bind_input = [](wasinn_backend_slot* slot, uint32_t index, const wasinn_tensor* tensor) -> wasinn_error* {
    Of(slot).Bind(index, *tensor);
    return nullptr;
  };
  table.unbind_input = [](wasinn_backend_slot* slot, uint32_t index) { Of(slot).Unbind(index); };
  table.compute = [](wasinn_backend_slot* slot, const wasinn_compute_options* options, wasinn_compute_result* result) {
    return CatchAll([&] { return Of(slot).Compute(*options, *result); });
  };
  table.output = [](wasinn_backend_slot* slot, uint32_t index, wasinn_tensor* view) {
    return CatchAll([&] { return Of(slot).Output(index, *view); });
  };
  // A worker can be ended, even if its framework cannot be interrupted.
  table.cancel = [](wasinn_backend_slot* slot) { Of(slot).Cancel(); };
  table.bind_output = nullptr;
  table.take_output = nullptr;  // a tensor must not keep memory that the worker may still write
  table.bind_align = 1;
}

void AddOptional(wasinn_backend& table) {
  if (table.discard_outputs != nullptr) {
    table.discard_outputs = [](wasinn_backend_slot* slot) {
      (void)CatchAll([&] { return Of(slot).Discard(), core::Status(); });
    };
  }
  if (table.outputs != nullptr) {
    table.outputs = [](wasinn_backend_slot* slot, const wasinn_io* const** out, uint32_t* n) {
      return CatchAll([&] { return Of(slot).DynamicOutputs(*out, *n); });
    };
  }
  if (table.reset != nullptr) {
    table.reset = [](wasinn_backend_slot* slot) -> wasinn_error* {
      Of(slot).Reset();
      return nullptr;
    };
  }
  if (table.step == nullptr || table.piece == nullptr || table.finish == nullptr) return;
  table.step = [](wasinn_backend_slot* slot) { return CatchAll([&] { return Of(slot).Step(); }); };
  table.piece = [](wasinn_backend_slot* slot, uint32_t index, wasinn_tensor* view) {
    return CatchAll([&] { return Of(slot).Piece(index, *view); });
  };
  table.finish = [](wasinn_backend_slot* slot) { return CatchAll([&] { return Of(slot).Finish(); }); };
}

}  // namespace

wasinn_backend IsolatedTable(const wasinn_backend& framework) {
  wasinn_backend table = framework;
  table.open = nullptr;  // IsolatedBackend::Open
  table.open_code = nullptr;
  table.close = [](wasinn_backend_state* backend) { delete &IsolatedBackend::Of(backend); };
  table.backend_info = [](wasinn_backend_state* backend, const wasinn_backend_info** out) -> wasinn_error* {
    *out = IsolatedBackend::Of(backend).info();
    return nullptr;
  };
  AddGraphs(table);
  AddSlots(table);
  AddOptional(table);
  return table;
}

namespace {

// Adds a death. True if there were so many within the time.
bool AddTo(std::deque<Backoffs::Time>& deaths, Backoffs::Time now, size_t most) {
  deaths.push_back(now);
  while (now - deaths.front() > Backoffs::kWithin) deaths.pop_front();
  return deaths.size() >= most;
}

}  // namespace

void Backoffs::Backoff::Add(Time now, size_t most_in_a_row, bool is_alone) {
  const bool is_in_a_row = AddTo(deaths, now, most_in_a_row);
  const bool is_often = is_alone && AddTo(deaths_alone, now, kMaxDeathsAlone);
  if (!is_in_a_row && !is_often) return;
  deaths.clear();
  deaths_alone.clear();
  length = length.count() == 0 ? kFirst : std::min(length * 2, kLongest);
  until = now + length;
}

void Backoffs::AddDeath(std::span<const uint64_t> guests, Time now) {
  if (guests.empty()) of_all_.Add(now, kMaxDeaths, false);
  if (of_guests_.size() > 64) Forget(now);
  for (const uint64_t guest : guests) of_guests_[guest].Add(now, most_in_a_row_, guests.size() == 1);
}

void Backoffs::Clear(uint64_t guest) {
  const auto found = of_guests_.find(guest);
  if (found != of_guests_.end()) found->second.deaths.clear();
}

// Forgets guests that have lost no worker for longer than the longest backoff.
void Backoffs::Forget(Time now) {
  std::erase_if(of_guests_, [now](const auto& one) {
    const Backoff& backoff = one.second;
    const bool is_quiet = backoff.deaths.empty() || now - backoff.deaths.back() > kLongest;
    return is_quiet && now - backoff.until > kLongest;
  });
}

std::optional<std::chrono::milliseconds> Backoffs::Left(uint64_t guest, Time now) const {
  const auto found = of_guests_.find(guest);
  if (guest != 0 && found == of_guests_.end()) return {};
  const Backoff& backoff = guest == 0 ? of_all_ : found->second;
  if (now >= backoff.until) return {};
  return std::chrono::duration_cast<std::chrono::milliseconds>(backoff.until - now);
}

}  // namespace wasinn::isolation
