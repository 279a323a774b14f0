// Sessions of a graph, in which TensorFlow runs it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "common/renewed.h"
#include "common/reservation.h"
#include "tensorflow/tf_library.h"

namespace wasinn::tensorflow {

// The device of a session.
enum class Device : uint8_t { kCpu, kGpu };

// TensorFlow computes a graph's constants when it makes a session, and keeps them.
enum class Folding : uint8_t {
  kUsual,
  kLittle,  // values of up to 100 KiB: a guest's graph of a few bytes may have terabytes of them
};

TfPtr<TF_SessionOptions> MakeSessionOptions(const TfLibrary& library, int threads, Device device,
                                            Folding folding = Folding::kUsual);

// The inputs and outputs of a run, among all in the signature, inputs first.
using TensorSet = std::vector<bool>;

// A graph, for several sessions.
using TfGraph = std::shared_ptr<TF_Graph>;
TfGraph NewGraph(const TfLibrary& library);

// A session with its graph. The C API can only interrupt a run by closing its session, which ends all its runs. So a
// session with a cancelled run is retired first: no new run begins in it, and it is closed when no other run is in it
// any more, or when that takes too long. Thread-safe.
class Session {
 public:
  // `account` pays for the sets that contexts share, `bytes_of_set` for each.
  Session(const TfLibrary& library, TfGraph graph, TF_Session* session, backend::Reservation account = {},
          uint64_t bytes_of_set = 0)
      : library_(library),
        graph_(std::move(graph)),
        session_(session),
        sets_charged_(std::move(account)),
        bytes_of_set_(bytes_of_set) {}
  ~Session() {
    const TfPtr<TF_Status> status = library_.NewStatus();
    library_->TF_DeleteSession(session_, status.get());
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Different from all others in this OS process, and not 0.
  uint64_t id() const { return id_; }
  TF_Graph* graph() const { return graph_.get(); }
  TF_Session* get() const { return session_; }
  // The tensor "node" or "node:1" of the graph. Throws WASINN_ERROR_INVALID_ARGUMENT if there is none.
  TF_Output Find(const std::string& tensor) const;

  // Whether it runs the set. For each set that it has run, TensorFlow keeps a graph with kernels and their constants as
  // long as the session; so it runs `most` of them, and the one of all tensors.
  bool Serve(const TensorSet& set, size_t most);
  // As above, for a session that contexts share: a few sets, for which its model's account can pay.
  bool ServeShared(const TensorSet& set);
  // The number of sets that it runs.
  size_t sets() const {
    const std::lock_guard lock(mutex_);
    return sets_.size();
  }

  // Begins and ends a run. False: the session is retired, or closed.
  bool Enter();
  // `cancelled`: Cancel was called for it.
  void Leave(bool cancelled) {
    const uint64_t gone = kRun + (cancelled ? kCancelled : 0);
    CloseIfOnlyCancelled(runs_.fetch_sub(gone, std::memory_order_acq_rel) - gone);
  }
  // Makes one of the runs inside return soon; called again and again until it has left. `again`: not the first call for
  // this run.
  void Cancel(bool again);
  bool retired() const { return (runs_.load(std::memory_order_relaxed) & kRetired) != 0; }
  // All its runs end now, cancelled or not.
  bool closed() const { return closed_; }

 private:
  // The number of runs inside, how many of them are cancelled, and whether more may come.
  static constexpr uint64_t kRun = 1, kCancelled = uint64_t{1} << 32, kRetired = uint64_t{1} << 63;

  void CloseIfOnlyCancelled(uint64_t runs) {
    const uint64_t inside = runs & (kCancelled - 1), cancelled = (runs & ~kRetired) / kCancelled;
    if ((runs & kRetired) != 0 && inside > 0 && inside == cancelled) Close();
  }
  void Close() {
    if (closed_.exchange(true)) return;
    const TfPtr<TF_Status> status = library_.NewStatus();
    library_->TF_CloseSession(session_, status.get());
  }

  static uint64_t NewId() {
    static std::atomic<uint64_t> last = 0;
    return ++last;
  }

  const uint64_t id_ = NewId();
  const TfLibrary& library_;
  const TfGraph graph_;
  TF_Session* const session_;
  std::atomic<uint64_t> runs_ = 0;
  std::atomic<std::chrono::steady_clock::rep> retired_at_ = 0;  // 0: it is not
  std::atomic<bool> closed_ = false;
  mutable std::mutex mutex_;  // guards the members below; only held for short
  std::set<TensorSet> sets_;
  backend::Reservation sets_charged_;
  const uint64_t bytes_of_set_;
};

// A run inside of a session.
class SessionRun {
 public:
  // `session` has been entered.
  explicit SessionRun(Session* session) : session_(session) {}
  ~SessionRun() { session_->Leave(cancelled_); }
  SessionRun(const SessionRun&) = delete;
  SessionRun& operator=(const SessionRun&) = delete;

  void SetCancelled() { cancelled_ = true; }

 private:
  Session* const session_;
  bool cancelled_ = false;
};

// The sessions of a model.
using Sessions = backend::Renewed<Session>;

}  // namespace wasinn::tensorflow
