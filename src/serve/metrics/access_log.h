// A file with a line of JSON for each request.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "serve/metrics/trace.h"
#include "serve/oip/inference.h"

namespace wasinn::serve {

struct AccessRecord {
  std::chrono::system_clock::time_point time;  // when its header had come
  std::string peer, protocol, method, target;
  std::optional<int> status;  // of HTTP, or a code of gRPC; no value: the client had disconnected before
  bool is_complete = true;    // whether the whole answer was written
  uint64_t bytes_in = 0, bytes_out = 0;
  uint64_t n_messages = 0;  // of a stream; 0: it is none
  std::chrono::microseconds duration{0};
  About about;
  std::string user_agent;
};

// Cuts a text that a client can make long. Invalid UTF-8 is replaced later, in the line.
std::string Bounded(std::string_view text, size_t most);
inline constexpr size_t kMaxTarget = 1024, kMaxLogged = 256;

// Without a line's end.
std::string ToLine(const AccessRecord& record);

// Thread-safe. Requests never wait: a thread writes, and lines without room are dropped, counted and reported.
class AccessLog {
 public:
  // "-": standard output. `most_bytes`: the limit of waiting lines.
  static std::shared_ptr<AccessLog> Open(std::string file, size_t most_bytes = 4u << 20);
  ~AccessLog();
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  void Add(AccessRecord record) noexcept;
  void AddDropped(uint64_t n = 1) noexcept { n_dropped_.fetch_add(n, std::memory_order_relaxed); }
  // Opens the file of its name again, which may be another one by now. After a failure it goes on with the old one.
  void Reopen();
  // Writes the waiting lines, as many as it can within a second. Call it once; then nothing is written any more.
  void Close();

 private:
  class File;

  AccessLog(std::string file, size_t most_bytes) : name_(std::move(file)), most_bytes_(most_bytes) {}
  static std::shared_ptr<File> OpenFile(const std::string& name);
  void Write();
  void WriteAll(const std::vector<AccessRecord>& records);
  bool IsOver() const;

  const std::string name_;
  const size_t most_bytes_;
  std::atomic<uint64_t> n_dropped_{0}, n_opened_{1};
  std::mutex mutex_;  // guards the members below
  std::condition_variable wake_;
  std::vector<AccessRecord> waiting_;
  size_t n_bytes_ = 0;  // in these
  std::shared_ptr<File> file_;
  bool ends_ = false;
  std::atomic<std::chrono::steady_clock::rep> end_{INT64_MAX};
  bool has_failed_ = false;  // only for the writing thread
  std::jthread thread_;
};

}  // namespace wasinn::serve
