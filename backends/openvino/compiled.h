// A compiled model, and the order of its computes.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "common/config.h"
#include "openvino/ov_library.h"

namespace wasinn::openvino {

// If a model leaves shapes open, the nodes of the compiled model work them out during an inference. After an inference
// that was interrupted, or that failed, some nodes have new shapes that they take for those of the previous inference:
// the next one fails, or computes past the end of their memory, in any context (OpenVINO 2026.4). So such a model
// computes for one context at a time, and is compiled again after an inference that did not end well. Models with fixed
// shapes do not have this problem, and compute for several contexts at once.
//
// Thread-safe.
class Compiled {
 public:
  Compiled(const OvLibrary& library, ov_core_t* core, OvPtr<ov_model_t> model);
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  // Compiles; call it once, first.
  void CompileFor(const std::string& device, backend::Config::Entries properties);

  ov_compiled_model_t* get() const { return compiled_.get(); }
  bool has_open_shapes() const { return has_open_shapes_; }

  // The request of one context, which keeps its model alive. So compiling again removes the requests of all contexts:
  // they get new ones in their next turn. Outputs that were taken from a request stay as they are.
  class Request {
   public:
    // Has no request yet.
    explicit Request(Compiled* compiled);
    ~Request();
    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;

    // NULL: there is none. If shapes are open, only during a turn.
    ov_infer_request_t* get() const { return request_.get(); }
    // The generation of its model; 0: there is none.
    uint64_t generation() const { return generation_; }
    // Replaces the request by one of the current model. If shapes are open, only during a turn: OpenVINO first waits
    // for the running inference, and then reads shapes that the next one writes (2026.4).
    void Renew();
    // At any time.
    void Drop();

   private:
    friend class Compiled;

    Compiled* const compiled_;
    OvPtr<ov_infer_request_t> request_;
    uint64_t generation_ = 0;
  };

  // One inference's turn: waits for it, in order of arrival. Throws WASINN_ERROR_TIMEOUT if the context sets
  // `cancelled` during the wait.
  class Turn {
   public:
    Turn(Compiled* compiled, const std::atomic<bool>& cancelled);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    uint64_t generation() const { return generation_; }
    // The inference did not end well.
    void Spoil() { spoilt_ = true; }

   private:
    Compiled* const compiled_;
    uint64_t generation_ = 0;
    bool spoilt_ = false;
  };

 private:
  OvPtr<ov_compiled_model_t> Compile() const;
  void Await(std::unique_lock<std::mutex>& lock, const std::atomic<bool>& cancelled);
  // Under no lock: waiting callers have deadlines.
  void CompileAnew(std::unique_lock<std::mutex>& lock);

  const OvLibrary& library_;
  ov_core_t* const core_;
  OvPtr<ov_model_t> model_;
  const bool has_open_shapes_;
  std::string device_;
  backend::Config::Entries properties_;

  std::mutex mutex_;
  std::condition_variable free_;
  OvPtr<ov_compiled_model_t> compiled_;
  uint64_t generation_ = 0;
  bool busy_ = false;  // a thread infers, or compiles
  bool spoilt_ = false;
  std::vector<const std::atomic<bool>*> waiting_;  // for a turn, in the order of calls
  std::set<Request*> requests_;
};

}  // namespace wasinn::openvino
