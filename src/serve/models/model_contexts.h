// The execution contexts of models: made when they are needed, and kept for later inferences.
#pragma once

#include <wasinn/wit.h>
#include <wasinn/wasinn.hpp>

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "serve/oip/inference.h"

namespace wasinn::serve {

// The content of a view, during its life. Destroy it before its guest.
class View {
 public:
  View() = default;
  explicit View(const wasinn_wit_view& view) : view_(view) {}
  View(View&& other) noexcept : view_(std::exchange(other.view_, {})) {}
  View& operator=(View&& other) noexcept {
    std::swap(view_, other.view_);
    return *this;
  }
  ~View() {
    if (view_.release != nullptr) view_.release(view_.owner);
  }

  template <typename T>
  std::span<const T> of() const {
    return {static_cast<const T*>(view_.data), view_.count};
  }

 private:
  wasinn_wit_view view_ = {};
};

// NULL: success. Throws Failure.
void OrThrow(wasinn_status* status);

// The rep of a result, or the message of its error object, which is dropped.
uint32_t RepOrThrow(wasinn_guest* guest, wasinn_status* status, const wasinn_wit_result& result);

class ModelContexts;

// A language model's limits for texts.
struct TextLimits {
  uint32_t parallel = 0;  // generated together; 0: one at a time
  uint32_t context = 0;   // tokens of the longest text, with its prompt; 0: unknown
};

// The idle contexts of all models, up to a number; the one that is idle for longest is dropped first. Thread-safe.
class IdleContexts {
 public:
  // The guest outlives it.
  IdleContexts(wasinn_guest* guest, size_t most) : guest_(guest), most_(most) {}

  std::optional<uint32_t> Take(const ModelContexts* of);
  void Put(const ModelContexts* of, uint32_t context);
  // Contexts that hold the state of a prompt: finds the model's one whose prompt has the longest common beginning with
  // this one. At most `most` are idle.
  std::optional<uint32_t> TakeFor(const ModelContexts* of, std::string_view prompt);
  void PutWith(const ModelContexts* of, uint32_t context, std::string prompt, size_t most);
  // Drops those of one model; or all, and returns whether there were any.
  void Drop(const ModelContexts* of);
  bool DropAll();

 private:
  struct Idle {
    const ModelContexts* of;
    uint32_t context;
    std::optional<std::string> prompt;  // the prompt of its state

    bool IsWarm(const ModelContexts* whose) const { return of == whose && prompt; }
  };
  using Order = std::list<Idle>;

  void DropThese(const Order& contexts);

  wasinn_guest* const guest_;
  const size_t most_;
  std::mutex mutex_;  // guards the members below
  Order idle_;        // longest first
};

// The contexts of one model for one tenant. Thread-safe. Both arguments outlive it.
class ModelContexts {
 public:
  ModelContexts(wasinn_guest* guest, IdleContexts& idle, std::string name)
      : guest_(guest), idle_(idle), name_(std::move(name)) {}
  ~ModelContexts();
  ModelContexts(const ModelContexts&) = delete;
  ModelContexts& operator=(const ModelContexts&) = delete;

  // A context that no other request has, without state of an earlier inference.
  uint32_t Take() { return TakeOrMake(idle_.Take(this)); }
  // It must have no state.
  void GiveBack(uint32_t context);
  // As above, for a generation: if possible, a context whose state begins like this text. It keeps its state if the
  // model computes many texts together: there the state costs no memory that an idle context would not take.
  uint32_t TakeFor(std::string_view prompt) { return TakeOrMake(idle_.TakeFor(this, BeginningOf(prompt))); }
  void GiveBackWith(uint32_t context, std::string beginning);
  // The part of a prompt that is compared for this.
  static std::string_view BeginningOf(std::string_view prompt) { return prompt.substr(0, 16u << 10); }
  TextLimits Limits();

 private:
  // Dropped by its destructor.
  class Graph {
   public:
    Graph(wasinn_guest* guest, uint32_t graph) : guest_(guest), graph_(graph) {}
    Graph(Graph&& other) noexcept
        : keeps_nothing(other.keeps_nothing),
          limits(other.limits),
          guest_(other.guest_),
          graph_(std::exchange(other.graph_, 0)) {}
    Graph& operator=(Graph&&) = delete;
    ~Graph() {
      if (graph_ != 0) wasinn_status_free(wasinn_wit()->graph_drop(guest_, graph_));
    }
    uint32_t get() const { return graph_; }
    // Whether results never depend on earlier inferences in the same context. If a model does not report that, each
    // context has one inference.
    bool keeps_nothing = false;
    TextLimits limits;

   private:
    wasinn_guest* guest_;
    uint32_t graph_;
  };

  uint32_t Make();
  uint32_t TakeOrMake(std::optional<uint32_t> idle) { return idle ? *idle : Make(); }
  Graph Load();
  // Loads it if necessary; needs `making_`.
  void LoadOnce();
  void Describe(Graph& graph);

  wasinn_guest* const guest_;
  IdleContexts& idle_;
  const std::string name_;  // "digits", "digits:2"
  std::mutex making_;       // for the graph
  std::optional<Graph> graph_;
  std::atomic<bool> reuse_{false};
  std::atomic<uint32_t> warm_{0};  // contexts that may be idle with their state
};

// A context that was taken: dropped unless it is kept for the next inference.
class TakenContext {
 public:
  TakenContext(std::shared_ptr<Guest> guest, std::shared_ptr<ModelContexts> of, uint32_t context)
      : guest_(std::move(guest)), of_(std::move(of)), context_(context) {}
  ~TakenContext() {
    if (!is_kept_) Drop();
  }
  TakenContext(const TakenContext&) = delete;
  TakenContext& operator=(const TakenContext&) = delete;

  uint32_t get() const { return context_; }
  // Cancels its compute. Thread-safe.
  void Drop() const { wasinn_status_free(wasinn_wit()->context_drop(guest_->get(), context_)); }
  void Keep() {
    of_->GiveBack(context_);
    is_kept_ = true;
  }
  void KeepWith(std::string beginning) {
    of_->GiveBackWith(context_, std::move(beginning));
    is_kept_ = true;
  }

 private:
  const std::shared_ptr<Guest> guest_;
  const std::shared_ptr<ModelContexts> of_;
  const uint32_t context_;
  bool is_kept_ = false;
};

}  // namespace wasinn::serve
