// The execution contexts of models: made when they are needed, and kept for the next inference of theirs.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <wasinn/wasinn.hpp>

#include "serve/models/wit_calls.h"
#include "serve/oip/inference.h"

namespace wasinn::serve {

class ModelContexts;

// What a language model says of its texts.
struct TextLimits {
  uint32_t parallel = 0;  // generated together; 0: each by itself
  uint32_t context = 0;   // tokens of the longest, with its prompt; 0: it does not say
};

// Those of all models that rest: no more than so many, of which the one goes first that rests longest. Any thread.
class RestingContexts {
 public:
  // The guest outlives it.
  RestingContexts(wasinn_guest* guest, size_t most) : guest_(guest), most_(most) {}

  std::optional<uint32_t> Take(const ModelContexts* of);
  void Put(const ModelContexts* of, uint32_t context);
  // Those that hold what they have made of a prompt: of a model's the one whose prompt has the most in common with this one. Of them rest no
  // more than `most`.
  std::optional<uint32_t> TakeFor(const ModelContexts* of, std::string_view prompt);
  void PutWith(const ModelContexts* of, uint32_t context, std::string prompt, size_t most);
  // Those of one model; or all of them, and then whether there were any.
  void Drop(const ModelContexts* of);
  bool DropAll();

 private:
  struct Resting {
    const ModelContexts* of;
    uint32_t context;
    std::optional<std::string> prompt;  // what it holds something of

    bool IsWarm(const ModelContexts* whose) const { return of == whose && prompt; }
  };
  using Order = std::list<Resting>;

  void DropThese(const Order& contexts);

  wasinn_guest* const guest_;
  const size_t most_;
  std::mutex mutex_;  // of what follows
  Order resting_;     // longest first
};

// Of one model for one tenant. Any thread. Both outlive it.
class ModelContexts {
 public:
  ModelContexts(wasinn_guest* guest, RestingContexts& resting, std::string name)
      : guest_(guest), resting_(resting), name_(std::move(name)) {}
  ~ModelContexts();
  ModelContexts(const ModelContexts&) = delete;
  ModelContexts& operator=(const ModelContexts&) = delete;

  // One that nobody else has, and in which nothing is left of an earlier inference.
  Outcome<uint32_t> Take() { return TakeOrMake(resting_.Take(this)); }
  // Where it is what it was.
  void GiveBack(uint32_t context);
  // The same for a generation: one that holds what it has made of a text that begins as this one, if there is one. It goes back with what it
  // holds, where the model computes many together: there it costs nobody memory that it would not take at rest.
  Outcome<uint32_t> TakeFor(std::string_view prompt) { return TakeOrMake(resting_.TakeFor(this, BeginningOf(prompt))); }
  void GiveBackWith(uint32_t context, std::string beginning);
  // As much of a prompt as is looked at for this.
  static std::string_view BeginningOf(std::string_view prompt) { return prompt.substr(0, 16u << 10); }
  Outcome<TextLimits> Limits();

 private:
  // Dropped when it goes.
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
    // Whether the results of one inference depend on no other one in the same context. A model that does not tell has contexts for one
    // inference each.
    bool keeps_nothing = false;
    TextLimits limits;

   private:
    wasinn_guest* guest_;
    uint32_t graph_;
  };

  Outcome<uint32_t> Make();
  Outcome<uint32_t> TakeOrMake(std::optional<uint32_t> rested) { return rested ? Outcome<uint32_t>(*rested) : Make(); }
  Outcome<Graph> Load();
  // If there is none yet; of `making_`.
  Outcome<void> LoadOnce();
  void Describe(Graph& graph);

  wasinn_guest* const guest_;
  RestingContexts& resting_;
  const std::string name_;  // "digits", "digits:2"
  std::mutex making_;       // of the graph
  std::optional<Graph> graph_;
  std::atomic<bool> reuse_{false};
  std::atomic<uint32_t> warm_{0};  // contexts that may rest with what they hold
};

// One that was taken: dropped unless it is kept for the next one.
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
  // Cancels what computes there. Any thread.
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
