// The host's side of a template: an OS process that has opened one framework and makes workers of it.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/isolation/protocol.h"
#include "core/isolation/socket.h"
#include "core/status.h"

namespace wasinn::isolation {

// Any thread.
class Template {
 public:
  // Opens the framework there, which may take long. It ends when this goes, or the host.
  static core::Result<std::shared_ptr<Template>> Start(const Setting& setting);
  Template(const Template&) = delete;
  Template& operator=(const Template&) = delete;

  struct Worker {
    Socket lane;
    pid_t pid = 0;
    Descriptor process;  // a pidfd
  };
  core::Result<Worker> Spawn();
  // It makes no workers any more: it has ended, or does not answer.
  bool gone() const { return gone_.load(std::memory_order_acquire); }
  // How a worker ended that has ended: "it was killed by signal 9 (Killed)".
  std::string EndOf(const Worker& worker) noexcept;

 private:
  explicit Template(Socket socket) : socket_(std::move(socket)), buffer_(kMostBytes) {}
  core::Status Ask(Writer& request, std::span<const int> descriptors, std::span<Descriptor> received, Reader& answer);
  core::Status Gone();

  const pid_t host_ = ::getpid();
  std::atomic<bool> gone_{false};
  std::mutex mutex_;  // of one question at a time
  Socket socket_;
  std::string backend_;
  std::vector<uint8_t> buffer_;
  std::vector<uint8_t> request_ = std::vector<uint8_t>(64);  // of EndOf, which needs no memory
};

}  // namespace wasinn::isolation
