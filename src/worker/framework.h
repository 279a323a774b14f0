// The only backend that an OS process of this program serves.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/isolation/protocol.h"
#include "core/models/backend.h"
#include "worker/log_lines.h"

namespace wasinn::worker {

class FrameworkOf {
 public:
  // Opens the backend's library, but not the framework.
  core::Status Load(const isolation::Setting& setting);
  // Opens the framework, once, and then the libraries of operators, which a backend finds open by their paths.
  core::Status Open();
  // Sets a worker's own limits, for its guest.
  void Use(const isolation::Setting& setting) { setting_ = setting; }
  bool loaded() const { return table_ != nullptr; }
  bool opened() const { return backend_ != nullptr; }
  // Whether it was opened in the process from which this one was forked.
  bool inherited() const { return inherited_; }
  void SetInherited() { inherited_ = opened(); }
  // Whether it has computed something, so that everything that it opens late is there.
  bool warm() const { return warm_; }
  void SetWarm() { warm_ = true; }
  // The folders of its libraries, if they were found before it is opened here (framework_folders.h).
  const std::vector<std::string>& folders() const { return folders_; }
  void SetFolders(std::vector<std::string> folders) { folders_ = std::move(folders); }

  core::Backend& backend() const { return *backend_; }
  const wasinn_backend& table() const { return *table_; }
  LogLines& log() { return log_; }
  const isolation::Setting& setting() const { return setting_; }
  core::Result<isolation::Framework> Describe() const;

 private:
  core::Status OpenCode(const std::string& file) const;

  isolation::Setting setting_;
  LogLines log_;
  core::Logger logger_;
  bool inherited_ = false, warm_ = false;
  std::vector<std::string> folders_;
  std::unique_ptr<const wasinn_backend> table_;
  std::shared_ptr<core::Backend> backend_;
};

}  // namespace wasinn::worker
