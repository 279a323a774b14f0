// Lasting memory of a backend.
#pragma once

#include <wasinn/backend.h>

#include "base/reservation.h"
#include "common/throw.h"

namespace wasinn::backend {

class Reservation : public base::Reservation {
 public:
  using base::Reservation::Reservation;

  // Throws WASINN_ERROR_TOO_LARGE, and then nothing has changed.
  void Resize(uint64_t size) {
    if (base::Reservation::Resize(size)) return;
    Throw(WASINN_ERROR_TOO_LARGE, "{} bytes to keep, besides the {} here, are more than may still be held",
          size - bytes(), bytes());
  }
};

}  // namespace wasinn::backend
