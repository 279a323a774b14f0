// Models that did not load, and why: their files are not read again for each request.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include <wasinn/wasinn.hpp>

#include "serve/oip/inference.h"

namespace wasinn::serve {

// Any thread. A model at a server is asked for again each time: it is no file, and the server may be there by now.
class FailedLoads {
 public:
  using Clock = std::chrono::steady_clock;
  explicit FailedLoads(std::function<Clock::time_point()> now = Clock::now) : now_(std::move(now)) {}

  void Add(const ModelInfo& model, const Failure& why);
  void Forget(const std::string& model);
  // Why it would fail again; nothing: it may load. A file that has not changed is read again for inferences alone, and for these after
  // a pause that doubles; for all, if something else than the file may be to blame, such as a want of memory.
  enum class Asks : uint8_t { kWhetherReady, kInference };
  std::optional<Failure> Find(const ModelInfo& model, Asks asks) const;

 private:
  // The times of a file, and of the folder that has its parts.
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

}  // namespace wasinn::serve
