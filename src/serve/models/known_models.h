// What models are, take and give, looked up once for each.
#pragma once

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

#include <wasinn/wasinn.hpp>

#include "serve/models/failed_loads.h"
#include "serve/models/load_log.h"
#include "serve/models/repository_settings.h"
#include "serve/models/statistics.h"
#include "serve/oip/inference.h"

namespace wasinn::serve {

struct KnownModel {
  ModelInfo info;
  Signature signature;
  // How long its inferences take of late; 0: there was none yet.
  mutable std::atomic<int64_t> usual_ns{0};
  mutable std::mutex again;  // of those that are made again since its worker has ended
};

// Any thread. The host outlives it.
class KnownModels {
 public:
  // `settings` outlive it, too.
  KnownModels(Host& host, const RepositorySettings& settings, std::shared_ptr<const Statistics> statistics)
      : host_(host), settings_(settings), statistics_(std::move(statistics)) {}
  // Loads the model if nobody did, and it did not just fail. Without a version it is the highest. A mistake in the model is not the
  // client's fault: UNAVAILABLE.
  Outcome<std::shared_ptr<const KnownModel>> Get(const std::string& model, const std::string& version);
  // Likewise, but with whatever is wrong about the model: for an operator, who asks for that.
  Outcome<std::shared_ptr<const KnownModel>> GetOrTell(const std::string& model, const std::string& version);
  // From its files as they are now: Host::ReloadModel.
  Outcome<void> Reload(const std::string& model);
  // To be called now and then: unloads those that nobody has asked for in too long a time.
  void Sweep();
  // Why it is known not to load, as clients get it.
  std::optional<Failure> WhyNot(const ModelInfo& model) const;
  // Whether somebody loads one of its versions now.
  bool IsLoading(const std::string& model) const;
  // For the log: of a load that somebody asked for.
  void Tell(const std::string& model, const std::string& why) { log_.Tell(model, why); }
  // Null: it is not known yet.
  std::shared_ptr<const KnownModel> Peek(const std::string& model, const std::string& version) const;
  void Forget(const std::string& model);

  // Is told of each model that is forgotten, until it goes; not on two threads at once. The models outlive it.
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
  // A version that there is. The log says why it does not load.
  Outcome<std::shared_ptr<const KnownModel>> Load(const ModelInfo& registered);
  using Clock = std::chrono::system_clock;
  using Key = std::pair<std::string, uint32_t>;
  using Loading = std::shared_ptr<void>;  // while it lives
  Outcome<Loading> MakeRoom(const ModelInfo& model);
  std::multimap<Clock::time_point, ModelInfo> Resting(const Key& but, std::set<Key>& loaded);
  bool IsInUse(const ModelInfo& model) const;
  void Unload(const ModelInfo& model);
  std::shared_ptr<const KnownModel> Look(const std::string& model, const std::string& version) const;  // of `mutex_`

  Host& host_;
  const RepositorySettings& settings_;
  const std::shared_ptr<const Statistics> statistics_;
  std::mutex room_;                         // that one makes at a time
  std::map<Key, Clock::time_point> since_;  // when they were loaded; of `room_`
  mutable std::mutex mutex_;
  uint64_t forgotten_ = 0;
  std::multiset<Key> loading_;
  std::map<std::string, std::map<std::string, std::shared_ptr<const KnownModel>>> known_;  // by model and version
  LoadLog log_;
  FailedLoads failed_;
  std::mutex listening_;  // of what follows
  std::set<const Listener*> listeners_;
};

// Registered under this name, lowest version first.
std::vector<ModelInfo> VersionsOf(const Host& host, const std::string& model);
// Of these, version "": the highest.
Outcome<ModelInfo> FindVersion(const Host& host, const std::string& model, const std::string& version);

// As hosts and guests say it: "digits", or "digits:2".
std::string NameOf(const std::string& model, const std::string& version);

// Whether a prompt and options are all that it needs: language models, here and at other servers.
bool Generates(const Signature& signature);

const Io* FindIo(const std::vector<Io>& ios, const std::string& name);

// Texts travel as BYTES.
bool IsText(const Io& io);
const Datatype* DatatypeOf(const Io& io);

}  // namespace wasinn::serve
