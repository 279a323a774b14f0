// Sessions of a graph: what TensorFlow runs.
#ifndef WASINN_BACKENDS_TENSORFLOW_SESSION_H_
#define WASINN_BACKENDS_TENSORFLOW_SESSION_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tensorflow/tf_library.h"

namespace wasinn::tensorflow {

// Where a session computes.
enum class Device : uint8_t { kCpu, kGpu };

TfPtr<TF_SessionOptions> MakeSessionOptions(const TfLibrary& library, int threads, Device device);

// A graph of which several sessions may be made.
using TfGraph = std::shared_ptr<TF_Graph>;
TfGraph NewGraph(const TfLibrary& library);

// A session with the graph that it runs. Any thread.
class Session {
 public:
  Session(const TfLibrary& library, TfGraph graph, TF_Session* session)
      : library_(library), graph_(std::move(graph)), session_(session) {}
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  TF_Graph* graph() const { return graph_.get(); }
  TF_Session* get() const { return session_; }
  // The tensor "node" or "node:1" of the graph. Throws WASINN_INVALID_ARGUMENT where there is none.
  TF_Output Find(const std::string& tensor) const;

  // Makes what runs in it return soon. It cannot be used again.
  void Close();
  bool closed() const { return closed_; }

 private:
  const TfLibrary& library_;
  const TfGraph graph_;
  TF_Session* const session_;
  std::atomic<bool> closed_ = false;
};

// The session that all contexts of a model run in. The C API has no way to interrupt a run but to close its session, so
// there is another after that. Any thread.
class SharedSession {
 public:
  using Make = std::function<std::shared_ptr<Session>()>;

  // `make` is called here, and whenever a session is needed anew.
  explicit SharedSession(Make make) : make_(std::move(make)), session_(make_()) {}

  std::shared_ptr<Session> Get();
  // One that nobody else closes, for a run that was interrupted on account of others.
  std::shared_ptr<Session> NewPrivate() const { return make_(); }

 private:
  const Make make_;
  std::mutex mutex_;
  std::shared_ptr<Session> session_;
};

}  // namespace wasinn::tensorflow

#endif  // WASINN_BACKENDS_TENSORFLOW_SESSION_H_
