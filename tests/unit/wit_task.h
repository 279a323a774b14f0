// Calls of wasi:nn@0.3.0-draft, from their beginnings to their ends, for tests.
#pragma once

#include <wasinn/wit.h>

#include "support/test.h"
#include "unit/wit_guest.h"

namespace wasinn::testing {

class WitTask {
 public:
  explicit WitTask(wasinn_guest* guest) : guest_(guest) {}
  ~WitTask() { Free(); }
  WitTask(const WitTask&) = delete;
  WitTask& operator=(const WitTask&) = delete;

  // Each returns "", or the trap because of which it has not begun.
  std::string Load(std::string_view model, uint32_t encoding = 6) {
    const wasinn_bytes bytes{reinterpret_cast<const uint8_t*>(model.data()), model.size()};
    return Begin([&](wasinn_wit_done done) { return wit_->task_load(guest_, &bytes, 1, encoding, 0, done, &task_); });
  }
  std::string LoadByName(std::string_view name) {
    return Begin(
        [&](wasinn_wit_done done) { return wit_->task_load_by_name(guest_, name.data(), name.size(), done, &task_); });
  }
  std::string Compute(uint32_t context, const WitGuest::Named& inputs, bool may_stay = false) {
    const auto named = NamedOf(inputs);
    return Begin([&](wasinn_wit_done done) {
      return wit_->task_compute(guest_, context, named.data(), named.size(), may_stay ? 1 : 0, done, &task_);
    });
  }
  std::string Generate(uint32_t context, const WitGuest::Named& inputs) {
    const auto named = NamedOf(inputs);
    return TrapOf(wit_->task_generate(guest_, context, named.data(), named.size(), &task_));
  }
  std::string Step() {
    return Begin([&](wasinn_wit_done done) { return wit_->task_step(task_, done); });
  }

  bool is_done() const { return report_->count == 1; }
  void Await() const { report_->count.wait(0); }
  // Its result, when it is over.
  Outcome End() {
    Await();
    return Take();
  }
  Outcome Take() {
    wasinn_wit_result result{};
    wasinn_wit_view values{};
    WitGuest calls(guest_);
    Outcome outcome = calls.Finish(wit_->task_take(task_, &result, &values), result);
    const auto* items = static_cast<const wasinn_wit_named_tensor*>(values.data);
    for (size_t i = 0; i < values.count; ++i) {
      outcome.outputs.emplace_back(std::string(items[i].name, items[i].name_size), items[i].tensor);
    }
    if (values.release != nullptr) values.release(values.owner);
    return outcome;
  }
  // The next piece as NAME=TEXT, "" at the end, or the error's message.
  std::string Piece() {
    EXPECT_EQ(Step(), "");
    Await();
    wasinn_wit_result result{};
    wasinn_wit_view values{};
    WitGuest calls(guest_);
    const Outcome outcome = calls.Finish(wit_->task_take(task_, &result, &values), result);
    std::string text = outcome.trap + outcome.message;
    for (size_t i = 0; i < values.count; ++i) {
      const wasinn_wit_piece& piece = static_cast<const wasinn_wit_piece*>(values.data)[i];
      text += std::string(piece.name, piece.name_size) + "=";
      text.append(reinterpret_cast<const char*>(piece.data), piece.size);
    }
    if (values.release != nullptr) values.release(values.owner);
    return text;
  }
  void Free() {
    if (task_ != nullptr) wit_->task_free(std::exchange(task_, nullptr));
  }
  // Whether the table has reported all that has begun, also of what was freed.
  struct Report {
    std::atomic<int> count{0};
  };
  std::shared_ptr<const Report> report() const { return report_; }

 private:
  template <typename Function>
  std::string Begin(const Function& begin) {
    report_ = std::make_shared<Report>();
    // The function that reports has a reference of its own.
    auto held = std::make_unique<std::shared_ptr<Report>>(report_);
    const auto notify = [](void* user) {
      const std::unique_ptr<std::shared_ptr<Report>> owned(static_cast<std::shared_ptr<Report>*>(user));
      EXPECT_EQ((*owned)->count.fetch_add(1), 0) << "once";
      (*owned)->count.notify_all();
    };
    std::string trap = TrapOf(begin({notify, held.get()}));
    if (trap.empty()) (void)held.release();
    return trap;
  }
  static std::string TrapOf(wasinn_status* status) {
    const StatusPtr owned(status);
    return owned == nullptr ? "" : wasinn_status_message(owned.get());
  }
  static std::vector<wasinn_wit_named_tensor> NamedOf(const WitGuest::Named& inputs) {
    std::vector<wasinn_wit_named_tensor> named;
    for (const auto& [name, tensor] : inputs) named.push_back({name.data(), name.size(), tensor});
    return named;
  }

  const wasinn_wit_functions* const wit_ = wasinn_wit();
  wasinn_guest* const guest_;
  wasinn_wit_task* task_ = nullptr;
  std::shared_ptr<Report> report_ = std::make_shared<Report>();
};

}  // namespace wasinn::testing
