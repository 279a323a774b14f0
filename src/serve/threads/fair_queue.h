// Chooses the next request: tenants have turns in proportion to their weights, whatever they have waiting (start-time
// fair queueing, like src/core/inference/fair_order.h for computes).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>

namespace wasinn::serve {

// A tenant in every queue of requests. It outlives its requests.
class Share {
 public:
  // `is_alone`: there are no other tenants.
  explicit Share(uint32_t weight = 1, bool is_alone = true) : weight_(weight), is_alone_(is_alone) {}
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  uint32_t weight() const { return weight_; }
  bool is_alone() const { return is_alone_; }
  uint64_t id() const { return id_; }

 private:
  inline static std::atomic<uint64_t> last_id{0};
  const uint32_t weight_;
  const bool is_alone_;
  const uint64_t id_ = ++last_id;
};

// Used by one thread at a time. Items move in and out as nodes, without an allocation, which could fail.
template <typename T>
class FairQueue {
  struct Item {
    T value;
    uint64_t share = 0, turn = 0;
  };

 public:
  // Removed items: `insert` accepts nodes.
  using Items = std::multimap<uint64_t, Item>;
  using Node = typename Items::node_type;

  // Makes an item for Push.
  static Node Make(T value) {
    Items one;
    one.emplace(0, Item{std::move(value)});
    return one.extract(one.begin());
  }

  bool empty() const { return items_.empty(); }
  size_t size() const { return items_.size(); }

  // Puts the item after others of the same share, and before others beyond their turns. Changes nothing if it throws.
  void Push(Node node, const Share& share) {
    uint64_t& next = shares_[share.id()].next;
    node.mapped().share = share.id();
    node.mapped().turn = kTurn / share.weight();
    node.key() = std::max(now_, next);
    next = node.key() + node.mapped().turn;
    items_.insert(std::move(node));
  }
  Node PopFirst() {
    return PopFirst([](const T&) { return true; });
  }
  // Takes the first item that may go; an empty node if there is none.
  template <typename May>
  Node PopFirst(const May& may) {
    const auto first = std::ranges::find_if(items_, [&](const auto& one) { return may(one.second.value); });
    if (first == items_.end()) return {};
    now_ = std::max(now_, first->first);
    return Take(first);
  }
  // Takes the item that would be served last, if a new one of this share would come before it; otherwise an empty node.
  Node PopLastFor(const Share& share) {
    if (items_.empty()) return {};
    const auto last = std::prev(items_.end());
    const auto next = shares_.find(share.id());
    const uint64_t mine = next == shares_.end() ? now_ : std::max(now_, next->second.next);
    if (mine >= last->first) return {};
    shares_.find(last->second.share)->second.next = last->first;  // it was not served
    return Take(last);
  }
  // Takes the last item that may go; an empty node if there is none.
  template <typename May>
  Node PopLast(const May& may) {
    for (auto next = items_.end(); next != items_.begin();) {
      const auto one = std::prev(next);
      if (!may(one->second.value)) {
        next = one;
        continue;
      }
      uint64_t& behind = shares_.find(one->second.share)->second.next;
      if (behind == one->first + one->second.turn) behind = one->first;  // it was not served
      return Take(one);
    }
    return {};
  }
  // Moves out items that are over. Later items of their shares move up: the removed ones were not served.
  template <typename Over>
  void Remove(const Over& is_over, Items& removed) {
    for (auto& [id, share] : shares_) share.is_seen = false;
    for (auto next = items_.begin(); next != items_.end();) {
      const auto one = next++;
      ShareState& share = shares_.find(one->second.share)->second;
      if (!std::exchange(share.is_seen, true)) share.next = one->first;
      if (is_over(one->second.value)) {
        removed.insert(items_.extract(one));
        continue;
      }
      const uint64_t place = std::exchange(share.next, share.next + one->second.turn);
      if (place == one->first) continue;
      Node moved = items_.extract(one);
      moved.key() = place;
      items_.insert(std::move(moved));
    }
    if (items_.empty()) Reset();
  }

 private:
  static constexpr uint64_t kTurn = 1 << 20;
  struct ShareState {
    uint64_t next = 0;  // the time of its next item
    bool is_seen = false;
  };

  Node Take(typename Items::iterator item) {
    Node node = items_.extract(item);
    if (items_.empty()) Reset();
    return node;
  }
  // The queue is empty: the next item waits for nothing.
  void Reset() {
    shares_.clear();
    now_ = 0;
  }

  Items items_;  // by the time of their turns, on a clock that advances with each served item
  std::unordered_map<uint64_t, ShareState> shares_;
  uint64_t now_ = 0;
};

}  // namespace wasinn::serve
