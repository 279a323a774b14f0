// The signatures of models, looked up once for each; and the models that failed to load, with the reasons: their files
// are not read again for each request.
#pragma once

#include <wasinn/wasinn.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "serve/models/repository_settings.h"
#include "serve/models/statistics.h"
#include "serve/oip/inference.h"

namespace wasinn::serve {

// Thread-safe. A model at a server is tried again each time: it is no file, and the server may be there by now.
class FailedLoads {
 public:
  using Clock = std::chrono::steady_clock;
  explicit FailedLoads(std::function<Clock::time_point()> now = Clock::now) : now_(std::move(now)) {}

  void Add(const ModelInfo& model, const Failure& why);
  void Forget(const std::string& model);
  // The reason why it would fail again; no value: it may load. An unchanged file is only read again for inferences,
  // after a pause that doubles; for all requests, if something else may be to blame, such as a lack of memory.
  enum class Asks : uint8_t { kWhetherReady, kInference };
  std::optional<Failure> Find(const ModelInfo& model, Asks asks) const;

 private:
  // The times of a file, and of the folder with its parts.
  struct Stamp {
    int64_t file_ns = 0, folder_ns = 0;
    uint64_t size = 0, inode = 0;
    bool operator==(const Stamp&) const = default;
    static Stamp Of(const std::string& path);
  };
  struct Failed {
    Failure why;
    Stamp stamp;
    Clock::duration pause;
    Clock::time_point again;
  };

  const std::function<Clock::time_point()> now_;
  mutable std::mutex mutex_;
  std::map<std::string, std::map<uint32_t, Failed>> failed_;  // by model and version
};

// Thread-safe.
class LoadLog {
 public:
  // For each model it logs this many reasons, each once: clients that ask again and again do not fill the log.
  static constexpr size_t kMaxReasons = 16;

  // `name`: "digits:2".
  void Write(const std::string& name, const std::string& why);
  // It has loaded, or is another one now: later failures are logged again.
  void Forget(const std::string& name);

 private:
  std::mutex mutex_;
  std::map<std::string, std::set<std::string>> logged_;  // by model
};

// A client's error for a model that does not load.
Failure OfLoad(Failure why);

struct KnownModel {
  ModelInfo info;
  Signature signature;
  // The recent time of its inferences; 0: there was none yet.
  mutable std::atomic<int64_t> usual_ns{0};
  mutable std::mutex again;  // for those that are made again after its worker has ended
};

// Thread-safe. The host outlives it.
class KnownModels {
 public:
  // `settings` outlive it, too.
  KnownModels(Host& host, const RepositorySettings& settings, std::shared_ptr<const Statistics> statistics)
      : host_(host), settings_(settings), statistics_(std::move(statistics)) {}
  // Loads the model if necessary, unless it has just failed. Without a version it is the highest. An error in the model
  // is not the client's fault: UNAVAILABLE.
  std::shared_ptr<const KnownModel> Get(const std::string& model, const std::string& version);
  // As above, with all details of the model's error: for an operator.
  std::shared_ptr<const KnownModel> GetWithDetails(const std::string& model, const std::string& version);
  // From its current files: Host::ReloadModel.
  void Reload(const std::string& model);
  // Call it now and then: unloads models that were not used for too long.
  void Sweep();
  // The known reason why it does not load, in the form for clients.
  std::optional<Failure> WhyNot(const ModelInfo& model) const;
  // Whether one of its versions is being loaded now.
  bool IsLoading(const std::string& model) const;
  // For the log: the failure of a requested load.
  void LogFailure(const std::string& model, const std::string& why) { log_.Write(model, why); }
  // NULL: unknown yet.
  std::shared_ptr<const KnownModel> Peek(const std::string& model, const std::string& version) const;
  void Forget(const std::string& model);

  // Notified of each model that is forgotten, during its life; not on two threads at once. The models outlive it.
  class Listener {
   public:
    Listener(KnownModels& models, std::function<void(const std::string& model)> forget);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

   private:
    friend class KnownModels;
    KnownModels& models_;
    const std::function<void(const std::string& model)> forget_;
  };

 private:
  using Clock = std::chrono::system_clock;
  using Key = std::pair<std::string, uint32_t>;
  struct Loading {
    Key key;
    bool is_forgotten = false;  // since then: it may be the former model of this name
  };
  // A load counts as one of the loaded models, and keeps its model loaded, until its mark goes.
  using Mark = std::shared_ptr<const Loading>;
  Mark MakeRoom(const ModelInfo& model);
  // Loads an existing version. The log has the reason of a failure.
  std::shared_ptr<const KnownModel> Load(const ModelInfo& registered);
  std::multimap<Clock::time_point, ModelInfo> FindIdle(const Key& but, std::set<Key>& loaded);
  bool IsInUse(const ModelInfo& model) const;  // needs `mutex_`
  // False: a request has it.
  bool TryUnload(const ModelInfo& model);
  void NotifyForgotten(const std::string& model);

  Host& host_;
  const RepositorySettings& settings_;
  const std::shared_ptr<const Statistics> statistics_;
  std::mutex room_;                         // held while one is made
  std::map<Key, Clock::time_point> since_;  // the times of their loads; guarded by `room_`
  mutable std::mutex mutex_;
  std::set<std::shared_ptr<Loading>> loading_;
  std::map<std::string, std::map<std::string, std::shared_ptr<const KnownModel>>> known_;  // by model and version
  LoadLog log_;
  FailedLoads failed_;
  std::mutex listening_;  // guards the members below
  std::set<const Listener*> listeners_;
};

// The models registered under this name, lowest version first.
std::vector<ModelInfo> VersionsOf(const Host& host, const std::string& model);
// For clients that name another one.
inline Failure NoModel(const std::string& model) {
  return {WASINN_ERROR_NOT_FOUND, fmt::format("there is no model '{}'", model)};
}
// One of these; version "": the highest. No value: there is none, and NOT_FOUND.
std::optional<ModelInfo> LookUpVersion(const Host& host, const std::string& model, const std::string& version);
ModelInfo FindVersion(const Host& host, const std::string& model, const std::string& version);

// The name for hosts and guests: "digits", or "digits:2".
std::string NameOf(const std::string& model, const std::string& version);

// Whether it only needs a prompt and options: language models, here and at other servers.
bool Generates(const Signature& signature);

const Io* FindIo(const std::vector<Io>& ios, const std::string& name);

// Texts travel as BYTES.
bool IsText(const Io& io);
const Datatype* DatatypeOf(const Io& io);

}  // namespace wasinn::serve
