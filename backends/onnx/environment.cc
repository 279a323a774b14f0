#include "onnx/environment.h"

#include <fmt/format.h>

#include <mutex>
#include <string_view>

#include "common/error.h"
#include "onnx/call_scope.h"

namespace wasinn::onnx {

using backend::Log;

namespace {

constexpr char kLogId[] = "wasinn";

// y = Identity(x)
constexpr std::string_view kSmallestModel(
    "\x08\x07:7\n\x10\n\x01x\x12\x01y\"\x08Identity\x12\x01gZ\x0f\n\x01x\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x01"
    "b\x0f\n\x01y\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x01"
    "B\x04\n\x00\x10\x0d",
    65);

// The returned error reports a failed compute. A guest may cause it as often as it likes, so it is not logged as an
// error. Nor are warnings, of which a guest's model can cause any number.
wasinn_log_level LevelOf(OrtLoggingLevel severity) {
  const CallScope::Subject* scope = CallScope::Current();
  if (scope != nullptr && scope->cancelled != nullptr) return WASINN_LOG_DEBUG;
  return severity == ORT_LOGGING_LEVEL_WARNING ? WASINN_LOG_INFO : WASINN_LOG_ERROR;
}

void Write(const Log* log, OrtLoggingLevel severity, const char* message) {
  if (log == nullptr || severity < ORT_LOGGING_LEVEL_WARNING) return;
  // No exception may leave: the only possible one is lack of memory.
  const auto error = backend::Guard([&] { log->Write(LevelOf(severity), fmt::format("ONNX Runtime: {}", message)); });
  if (error != nullptr) error->release(error);
}

void ORT_API_CALL WriteToSession(void* log, OrtLoggingLevel severity, const char* /*category*/, const char* /*id*/,
                                 const char* /*location*/, const char* message) {
  Write(static_cast<const Log*>(log), severity, message);
}

// The environment may outlive the host that made it, so it has no log of its own: the calling thread knows the host.
void ORT_API_CALL WriteToCaller(void* /*none*/, OrtLoggingLevel severity, const char* /*category*/, const char* /*id*/,
                                const char* /*location*/, const char* message) {
  const CallScope::Subject* scope = CallScope::Current();
  if (scope != nullptr) Write(scope->log, severity, message);
}

// ONNX Runtime counts the users of its one environment, but making a new one fails while the last user of the old one
// leaves: "Only one instance of LoggingManager …". So environments are made and released one by one.
constinit std::mutex environments;

EnvPtr MakeEnv(const OrtLibrary& library, const Log& log, int threads, bool spinning) {
  const OrtApi& api = library.api();
  CallScope::Subject subject;
  subject.log = &log;
  const CallScope scope(subject);
  constexpr char kDoing[] = "making the environment";
  const std::lock_guard lock(environments);
  if (threads <= 1) {
    return EnvPtr(library.Get<OrtEnv*>(kDoing, api.CreateEnvWithCustomLogger, WriteToCaller, nullptr,
                                       ORT_LOGGING_LEVEL_WARNING, kLogId),
                  {&api});
  }
  const auto threading = library.Make("threading options", api.ReleaseThreadingOptions, api.CreateThreadingOptions);
  library.Check(api.SetGlobalIntraOpNumThreads(threading.get(), threads), "threads of the pool");
  library.Check(api.SetGlobalInterOpNumThreads(threading.get(), 1), "threads of the pool");
  library.Check(api.SetGlobalSpinControl(threading.get(), spinning ? 1 : 0), "spinning");
  return EnvPtr(library.Get<OrtEnv*>(kDoing, api.CreateEnvWithCustomLoggerAndGlobalThreadPools, WriteToCaller, nullptr,
                                     ORT_LOGGING_LEVEL_WARNING, kLogId, threading.get()),
                {&api});
}

}  // namespace

void EnvDeleter::operator()(OrtEnv* env) const {
  const std::lock_guard lock(environments);
  api->ReleaseEnv(env);
}

Environment::Environment(const OrtLibrary& library, const Log& log, int threads, bool spinning)
    : library_(library),
      env_(MakeEnv(library, log, threads, spinning)),
      cpu_memory_(library.CpuMemory()),
      allocator_(library, env_.get()) {
  library.Check(library.api().DisableTelemetryEvents(env_.get()), "switching telemetry off");
  has_pool_ = threads > 1 && TryPool();
  if (threads > 1 && !has_pool_) {
    log.Write(WASINN_LOG_WARNING,
              "onnx: something else in this OS process made ONNX Runtime's environment first, without a thread pool: "
              "models run on one thread each");
  }
  if (!limits_memory()) {
    log.Write(WASINN_LOG_WARNING,
              "onnx: the program has given ONNX Runtime a CPU allocator of its own: limits on the memory of a model do "
              "not hold");
  }
}

bool Environment::TryPool() const {
  const OrtApi& api = library_.api();
  const auto options = library_.Make("session options", api.ReleaseSessionOptions, api.CreateSessionOptions);
  library_.Check(api.DisablePerSessionThreads(options.get()), "sharing the pool");
  OrtSession* session = nullptr;
  OrtStatus* status =
      api.CreateSessionFromArray(env_.get(), kSmallestModel.data(), kSmallestModel.size(), options.get(), &session);
  api.ReleaseStatus(status);
  api.ReleaseSession(session);
  return status == nullptr;
}

// There is one environment, which counts its users: this one stays.
void Environment::NeverEnd(const Log& log) const {
  static std::once_flag once;
  std::call_once(once, [&] { (void)MakeEnv(library_, log, 1, false).release(); });
}

void Environment::LogTo(const Log& log, OrtSessionOptions* options) const {
  library_.Check(library_.api().SetUserLoggingFunction(options, WriteToSession, const_cast<Log*>(&log)), "log");
  library_.Check(library_.api().SetSessionLogSeverityLevel(options, ORT_LOGGING_LEVEL_WARNING), "log");
}

}  // namespace wasinn::onnx
