#include "worker/processor.h"

namespace wasinn::worker {

Processor::Processor() : knows_first_(::sched_getaffinity(0, sizeof(first_), &first_) == 0) {}

void Processor::MoveTo(uint32_t number) {
  if (number == now_ || !knows_first_) return;
  cpu_set_t wanted = first_;
  if (number < CPU_SETSIZE) {
    CPU_ZERO(&wanted);
    CPU_SET(number, &wanted);
  }
  if (::sched_setaffinity(0, sizeof(wanted), &wanted) == 0) now_ = number;
}

}  // namespace wasinn::worker
