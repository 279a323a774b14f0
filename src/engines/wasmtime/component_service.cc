#include "engines/wasmtime/component_service.h"

#include <wasinn/wasmtime.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engines/guest_run.h"
#include "engines/wasmtime/errors.h"
#include "engines/wasmtime/http_answer.h"
#include "engines/wasmtime/wasi.h"

namespace wasinn::wasmtime {
namespace {

using engines::Exit;
using engines::HttpExchange;
using engines::Result;
using engines::RunOptions;
using std::chrono::steady_clock;

using ServicePtr = std::unique_ptr<wasinn_component_service, Deleter<wasinn_component_service_delete>>;

constexpr char kTookTooLong[] = "the guest ran for longer than it may (limits.run_timeout_ms)";
constexpr char kEndedByAnother[] = "was ended with its instance, because another request there took too long";

class ComponentService final : public engines::Service {
 public:
  ComponentService(EnginePtr engine, const RunOptions& options)
      : engine_(std::move(engine)),
        guest_(options.guest),
        may_send_(options.may_send),
        store_(wasmtime_store_new(engine_.get(), guest_, nullptr)) {}
  ~ComponentService() override {
    service_.reset();
    if (guest_ != nullptr) wasinn_guest_close(guest_);  // before the store, which has the memory
  }
  ComponentService(const ComponentService&) = delete;
  ComponentService& operator=(const ComponentService&) = delete;

  // Call it once, first.
  Result<void> SetUp(const wasinn_component_handler* handler, const StoreLimits& limits, RunOptions options) {
    limits.Hold(store_.get());
    EndWith(store_.get(), interrupted_);
    wasmtime_context_t* const context = wasmtime_store_context(store_.get());
    options.http.emplace();  // for a guest without sockets
    if (Result<void> wasi = SetWasi(context, options); !wasi) return wasi;
    wasinn_wasmtime_component_set_up(context, guest_);
    const wasinn_http_service_options more = {.struct_size = sizeof more,
                                              .fuel = options.max_fuel,
                                              .user = this,
                                              .is_interrupted = IsInterrupted,
                                              .allows = may_send_ != nullptr ? AllowsIt : nullptr};
    wasinn_component_service* service = nullptr;
    auto made = TakeError(wasinn_component_service_new(handler, context, &more, &service));
    service_.reset(service);
    return made;
  }

  std::optional<Exit> Answer(const HttpExchange& exchange) override {
    Asked asked{{*exchange.sink}, *this, exchange.until};
    const RequestToC request(*exchange.request);
    const wasinn_http_answer answer = {.struct_size = sizeof answer,
                                       .user = static_cast<Answering*>(&asked),
                                       .begin = Answering::Begin,
                                       .write = Answering::Write,
                                       .fail = Answering::Fail,
                                       .refuse = Answering::Refuse,
                                       .is_interrupted = Asked::IsUnwanted,
                                       .allows = nullptr};
    std::unique_lock lock(mutex_);
    if (has_ended_) return std::nullopt;
    asked_.push_back(&asked);
    if (!wasinn_component_service_begin(service_.get(), request.get(), &answer, Asked::End, &asked.is_begun)) {
      std::erase(asked_, &asked);
      return Exit();
    }
    changed_.wait(lock, [&] { return asked.is_over || !is_driven_; });
    if (!asked.is_over) {
      is_driven_ = true;
      lock.unlock();
      DriveFor(asked);
      lock.lock();
      is_driven_ = false;
      changed_.notify_all();  // another thread drives, if there are more requests
    }
    return std::move(asked.exit);
  }

  bool has_ended() const override { return has_ended_; }

 private:
  // A request that has not ended.
  struct Asked : Answering {
    ComponentService& service;
    const steady_clock::time_point until;
    bool is_begun = false;  // written and read by the thread that drives
    bool is_over = false;
    std::optional<Exit> exit = std::nullopt;  // then; none: the guest has not seen it

    // Without memory there is no message.
    void SetExit(Exit::Kind kind, int code, std::string_view message) noexcept {
      is_over = true;
      exit.emplace(kind, code);
      try {
        exit->message = message;
      } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): as said
      }
    }
    static bool IsUnwanted(void* user) { return !SinkOf(user).is_wanted(); }
    static void End(void* user, bool is_whole) {
      auto& self = *static_cast<Asked*>(static_cast<Answering*>(user));
      if (is_whole) self.sink.End();
      const std::lock_guard lock(self.service.mutex_);
      self.SetExit(Exit::Kind::kExited, 0, "");
      std::erase(self.service.asked_, &self);
      self.service.changed_.notify_all();
    }
  };

  // Until this request has ended, perhaps with the instance.
  void DriveFor(const Asked& asked) noexcept try {
    engines::GuestRun run(guest_, [this] {
      interrupted_ = true;
      wasmtime_engine_increment_epoch(engine_.get());
    });
    if (!run.begun()) return End(Exit::Failed(run.begun().error()), asked);
    wasmtime_error_t* error = nullptr;
    while (error == nullptr && !asked.is_over) error = wasinn_component_service_drive(service_.get());  // it ends here
    const bool has_failed = error != nullptr;
    const Exit exit = run.End(ToExit(error));
    if (has_failed || exit.kind == Exit::Kind::kInterrupted) End(exit, asked);
  } catch (const std::exception&) {
    End({Exit::Kind::kFailed, 125, ""}, asked);
  }

  // Ends all requests. Those that the guest has not seen can go to another instance, except the driver's own.
  void End(const Exit& exit, const Asked& own) noexcept {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    service_.reset();  // uses the requests no more
    const auto is_late = [now = steady_clock::now()](const Asked* one) { return one->until <= now; };
    const bool took_too_long = is_overdue_ || exit.kind == Exit::Kind::kInterrupted;
    const bool any_is_late = took_too_long && std::ranges::any_of(asked_, is_late);
    for (Asked* const one : asked_) {
      if (any_is_late && is_late(one)) {
        one->SetExit(Exit::Kind::kInterrupted, 124, kTookTooLong);
      } else if (!one->is_begun && one != &own) {
        one->is_over = true;
      } else if (any_is_late) {
        one->sink.Fail(kEndedByAnother);
        one->SetExit(Exit::Kind::kExited, 0, "");
      } else {
        one->SetExit(exit.kind, exit.code, exit.message);
      }
    }
    asked_.clear();
    changed_.notify_all();
  }

  // On the thread that drives.
  static bool IsInterrupted(void* user) {
    auto& self = *static_cast<ComponentService*>(user);
    if (self.interrupted_) return true;
    const std::lock_guard lock(self.mutex_);
    const auto now = steady_clock::now();
    self.is_overdue_ = std::ranges::any_of(self.asked_, [now](const Asked* one) { return one->until <= now; });
    return self.is_overdue_;
  }
  static bool AllowsIt(void* user, wasinn_bytes scheme, wasinn_bytes authority) {
    return Allows(*static_cast<ComponentService*>(user)->may_send_, scheme, authority);
  }

  const EnginePtr engine_;
  wasinn_guest* const guest_;
  const engines::HttpPermission* const may_send_;
  const StorePtr store_;
  std::atomic<bool> interrupted_{false}, has_ended_{false};
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  ServicePtr service_;  // the thread that drives uses it, and alone resets it
  std::vector<Asked*> asked_;
  bool is_driven_ = false, is_overdue_ = false;
};

}  // namespace

Result<std::unique_ptr<engines::Service>> NewComponentService(EnginePtr engine, const wasinn_component_handler* handler,
                                                              const StoreLimits& limits, const RunOptions& options) {
  auto service = std::make_unique<ComponentService>(std::move(engine), options);
  if (Result<void> set = service->SetUp(handler, limits, options); !set) return std::unexpected(set.error());
  return service;
}

}  // namespace wasinn::wasmtime
