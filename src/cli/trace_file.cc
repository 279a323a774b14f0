#include "cli/trace_file.h"

#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "cli/log.h"
#include "cli/output_file.h"

namespace wasinn::cli {
namespace {

constexpr size_t kMaxPending = 256 << 10;
constexpr char kEndOfEvents[] = "\n]\n";

// Names may be invalid UTF-8.
std::string Text(const nlohmann::ordered_json& event) {
  return event.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

// For the calling thread.
std::string ThreadEvent(uint64_t thread) {
  char name[16] = "";
  (void)pthread_getname_np(pthread_self(), name, sizeof(name));
  return Text({{"name", "thread_name"}, {"ph", "M"}, {"pid", getpid()}, {"tid", thread}, {"args", {{"name", name}}}});
}

std::string SpanEvent(const wasinn_span& span) {
  constexpr double kMicrosecond = 1000;
  nlohmann::ordered_json args = {
      {"guest", span.guest}, {"model", span.model}, {"code", wasinn_code_name(static_cast<Code>(span.code))}};
  if (span.guest_name[0] != '\0') args["guest_name"] = span.guest_name;
  if (span.version != 0) args["version"] = span.version;
  if (span.backend[0] != '\0') args["backend"] = span.backend;
  if (span.inference != 0) args["inference"] = span.inference;
  return Text({{"name", span.name},
               {"cat", "wasinn"},
               {"ph", "X"},
               {"ts", static_cast<double>(span.start_ns) / kMicrosecond},
               {"dur", static_cast<double>(span.duration_ns) / kMicrosecond},
               {"pid", getpid()},
               {"tid", span.thread},
               {"args", std::move(args)}});
}

}  // namespace

bool TraceFile::Open(const std::string& path, const std::vector<engines::Directory>& guest_folders) {
  const std::lock_guard lock(mutex_);
  file_ = OpenOutput(path, guest_folders);
  if (file_ < 0) return false;
  Empty(file_);
  pending_ = "[";
  Write();
  return !failed_;
}

void TraceFile::Append(const std::string& event) {
  pending_ += is_first_ ? "\n" : ",\n";
  pending_ += event;
  is_first_ = false;
}

void TraceFile::Add(const wasinn_span& span) {
  const std::string event = SpanEvent(span);
  const std::lock_guard lock(mutex_);
  if (threads_.insert(span.thread).second) Append(ThreadEvent(span.thread));
  Append(event);
  if (pending_.size() >= kMaxPending) Write();
}

void TraceFile::Flush() {
  const std::lock_guard lock(mutex_);
  if (file_ >= 0 && !pending_.empty()) Write();
}

// The next write overwrites the end.
void TraceFile::Write() {
  if (!failed_ && !WriteAt(file_, pending_ + kEndOfEvents, written_)) {
    failed_ = true;
    Log(WASINN_LOG_ERROR, (std::string("cannot write the trace: ") + std::strerror(errno)).c_str());
  }
  written_ += static_cast<int64_t>(pending_.size());
  pending_.clear();
}

TraceFile::~TraceFile() {
  if (file_ < 0) return;
  Flush();
  close(file_);
}

}  // namespace wasinn::cli
