// A compiled model, and who computes with it.
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

// Shapes that a model leaves open are worked out by the nodes of what was compiled, as an inference comes to them. One
// that was interrupted, or that failed, leaves some nodes with new shapes that they take for those of the inference
// before: the next one fails, or computes past the end of their memory, in whichever context (OpenVINO 2026.4). So such
// a model computes for one context at a time, and is compiled anew after an inference that did not end well. Models
// whose shapes are all fixed are free of this, and compute for several contexts at once.
//
// Any thread.
class Compiled {
 public:
  Compiled(const OvLibrary& library, ov_core_t* core, OvPtr<ov_model_t> model);
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  // Compiles; once, and before anything else.
  void CompileFor(const std::string& device, backend::Config::Entries properties);

  ov_compiled_model_t* get() const { return compiled_.get(); }
  bool has_open_shapes() const { return has_open_shapes_; }

  // The request of one context, which keeps alive what it was made of. So whoever compiles anew takes the requests of
  // all contexts away: they have a new one made in their next turn. Outputs that were taken from it stay as they are.
  class Request {
   public:
    // Without one.
    explicit Request(Compiled* compiled);
    ~Request();
    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;

    // NULL: there is none. Where shapes are open, only in a turn.
    ov_infer_request_t* get() const { return request_.get(); }
    // Of what it was made of; 0: there is none.
    uint64_t generation() const { return generation_; }
    // In place of the one before, of what is compiled now. Where shapes are open, only in a turn: OpenVINO waits for the
    // running inference first, and then reads shapes that the next one writes (2026.4).
    void Renew();
    // At any time.
    void Drop();

   private:
    friend class Compiled;

    Compiled* const compiled_;
    OvPtr<ov_infer_request_t> request_;
    uint64_t generation_ = 0;
  };

  // The time of one inference: waits for its turn, behind those who came before. Throws WASINN_ERROR_TIMEOUT where
  // `cancelled`, which is one context's, is set meanwhile.
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
  // Under no lock: whoever waits meanwhile has a deadline.
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
  bool busy_ = false;  // somebody infers, or compiles
  bool spoilt_ = false;
  std::vector<const std::atomic<bool>*> waiting_;  // for a turn, in the order of calls
  std::set<Request*> requests_;
};

}  // namespace wasinn::openvino
