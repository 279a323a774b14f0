// For the time of a call without a limit of its own: if it has a deadline, interrupts the worker then.
#pragma once

#include "core/isolation/connection.h"

namespace wasinn::isolation {

class Deadline {
 public:
  // `options`: those of a load, or of a new slot. `number` is the object's.
  template <typename Options>
  Deadline(const Options& options, Connection& connection, uint32_t number)
      : token_(options.token), on_cancel_(options.on_cancel), connection_(connection), number_(number) {
    interruption_.Begin();
    if (on_cancel_ != nullptr) on_cancel_(token_, &Deadline::Interrupt, this);
  }
  ~Deadline() {
    if (on_cancel_ != nullptr) on_cancel_(token_, nullptr, nullptr);
  }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  static void Interrupt(void* self) {
    auto& it = *static_cast<Deadline*>(self);
    it.interruption_.Interrupt(it.connection_, it.number_, 1);
  }

  void* const token_;
  void (*const on_cancel_)(void* token, void (*cancel)(void* arg), void* arg);
  Connection& connection_;
  const uint32_t number_;
  Connection::Interruption interruption_;
};

}  // namespace wasinn::isolation
