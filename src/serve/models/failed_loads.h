// Models that failed to load, with the reasons: their files are not read again for each request.
#pragma once

#include <wasinn/wasinn.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

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

}  // namespace wasinn::serve
