// Finds backend libraries in the host's folders and opens a backend when a model first needs it.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/isolation/isolated_backend.h"
#include "core/models/backend.h"
#include "core/models/formats.h"
#include "core/models/install_hints.h"
#include "core/models/single_flight.h"
#include "core/models/workers.h"

namespace wasinn::core {

// A backend's state, for error messages and `wasinn backends`.
struct BackendReport {
  std::string name, encodings;
  bool available = false;
  std::string framework, devices, library;   // if available
  std::string missing, install, looked_for;  // if not
  std::span<const wasinn_key> keys;          // none if its library is missing
};

// Describes an open backend.
BackendReport Describe(const Backend& backend);

class BackendLoader {
 public:
  struct Options {
    std::vector<std::string> folders;            // searched in order; the first library of a name wins
    size_t named_folders = 0;                    // the first ones are in the configuration
    std::map<std::string, std::string> configs;  // backend's name -> JSON object
    std::vector<std::string> order;              // these backends go first if several serve a format
    uint32_t threads = 1;
    std::string worker;         // the program that runs frameworks outside of the host
    bool names_worker = false;  // `worker` is in the configuration
    uint32_t max_workers = 256;
    bool spare_workers = true;    // for each framework that has had two workers
    uint32_t worker_spin_us = 0;  // how long host and worker poll for messages before they sleep
    bool has_one_guest = false;   // every call is for it
    std::string workers_cgroup;   // the folder of a control group that all workers join; "": the host's group
  };
  BackendLoader(Options options, const Logger& logger, Clock clock)
      : options_(std::move(options)),
        logger_(logger),
        zygotes_(std::make_shared<isolation::Zygotes>(options_.max_workers, options_.spare_workers,
                                                      options_.has_one_guest, clock)) {}

  // The standard's formats, then those of each backend's table; valid as long as this object. Opens libraries, but no
  // framework.
  Result<Formats> AllFormats(const WaitOptions& wait);
  // Fails with `code` if a format is neither one of the standard's nor any backend's.
  Status CheckFormat(std::string_view name, wasinn_code code, const WaitOptions& wait);
  // Whether the backend maps a model's file itself.
  bool IsMapped(std::string_view format, const WaitOptions& wait);

  // The backend for a format: the first in the host's order whose framework is there. Opening a framework can take a
  // while: concurrent callers for the same one wait for it, within their limits, and others are not held up. A failure
  // is not remembered, so that a framework that was installed later is found. The framework runs in the host's process,
  // or in a worker.
  Result<std::shared_ptr<Backend>> ForFormat(std::string_view format, const WaitOptions& wait, const Place& place = {});
  // The backend of this name in the host's configuration, for any format.
  Result<std::shared_ptr<Backend>> ByName(std::string_view name, const WaitOptions& wait, const Place& place = {});
  // Threads of each compute.
  uint32_t threads() const { return options_.threads; }
  const isolation::Counters& workers() const { return zygotes_->counters(); }
  // Reports every known backend, and opens those that can be opened.
  std::vector<BackendReport> Report();

 private:
  struct Entry {
    const wasinn_backend table;  // as this version knows it
    const std::vector<wasinn_format> formats;
    const std::string path;
    SingleFlight<std::shared_ptr<Backend>> backend;
    std::atomic<bool> is_missing_reported{false};
  };
  struct Entries {
    std::deque<Entry> found;         // elements never move
    std::vector<Entry*> in_order;    // in the host's order
    std::vector<wasinn_format> all;  // the standard's formats, then the backends'
    InstallHints hints;
  };
  Result<std::shared_ptr<Entries>> FindEntries(const WaitOptions& wait);
  Status AddFolder(const std::string& folder, Entries& entries) const;
  Status AddLibrary(const std::string& path, Entries& entries) const;
  void Order(Entries& entries) const;
  void LogOrder(const Entries& entries) const;
  void WarnOfMissingPaths() const;
  static std::vector<std::string> NamesOf(const Entries& entries);
  void WarnOfUnknownNames(const Entries& entries) const;
  void ReportMissing(Entry& entry, std::string_view format, const Entry& next, const Status& why) const;
  Result<std::shared_ptr<Backend>> Open(Entry& entry, const InstallHints& hints, const WaitOptions& wait,
                                        const Place& place = {});
  // As Open, with the backend's whole message about a missing framework.
  Result<std::shared_ptr<Backend>> OpenWithDetails(Entry& entry, const InstallHints& hints, const WaitOptions& wait,
                                                   const Place& place);
  Result<std::shared_ptr<Backend>> OpenInHost(Entry& entry, const WaitOptions& wait);
  Result<std::string> ConfigOf(const Entry& entry) const;
  Result<std::shared_ptr<Backend>> OpenIsolated(const Entry& entry, const WaitOptions& wait, const Place& place) const;
  BackendReport ReportOf(Entry& entry, const InstallHints& hints);
  std::string Folders() const;

  const Options options_;
  const Logger& logger_;
  SingleFlight<std::shared_ptr<Entries>> entries_;
  const std::shared_ptr<isolation::Zygotes> zygotes_;
};

}  // namespace wasinn::core
