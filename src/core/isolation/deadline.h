// For the time of a call without a limit of its own: if it has a deadline, interrupts the worker then.
#pragma once

#include "core/inference/interruptible.h"
#include "core/isolation/connection.h"

namespace wasinn::isolation {

class Deadline {
 public:
  // `options`: those of a load, or of a new slot. `number` is the object's.
  template <typename Options>
  Deadline(const Options& options, Connection& connection, uint32_t number)
      : connection_(connection), number_(number), registration_(options, &Deadline::Interrupt, this) {}

 private:
  static void Interrupt(void* self) {
    auto& it = *static_cast<Deadline*>(self);
    it.interruption_.Interrupt(it.connection_, it.number_, 1);
  }

  Connection& connection_;
  const uint32_t number_;
  Connection::Interruption interruption_;
  const core::CancelRegistration registration_;  // last: it may call
};

}  // namespace wasinn::isolation
