#include "remote/retries.h"

namespace wasinn::remote {

bool Retries::After(Ending ending) {
  switch (ending) {
    case Ending::kAnswered:
      return false;
    case Ending::kNeverSent:
      return ++unsent_ < servers_;
    case Ending::kLost:
    case Ending::kGivenUp:
      if (again_ == 0) return false;
      --again_;
      return true;
  }
  return false;
}

}  // namespace wasinn::remote
