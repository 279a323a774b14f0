// A library of a version whose structs have grown. It fills a tensor as a backend shall: with what it knows.
#include "common/abi.h"
#include "version.h"

namespace {

struct NewerTable : wasinn_backend {
  void (*more[4])();  // for a newer host
};
struct NewerTensor : wasinn_tensor {
  uint64_t more[4];
};

const wasinn_backend& Echo() {
  static const wasinn_backend echo = wasinn::testing::EchoAs("newer");
  return echo;
}

template <typename Function>
wasinn_error* Fill(wasinn_tensor* theirs, Function&& function) {
  NewerTensor full = {};
  full.struct_size = sizeof(wasinn_tensor);  // for echo, which is not newer
  wasinn_error* error = function(&full);
  for (uint64_t& more : full.more) more = ~0ull;
  if (error == nullptr) wasinn::backend::WriteStruct(static_cast<NewerTensor*>(theirs), full);
  return error;
}

wasinn_error* Output(wasinn_backend_slot* context, uint32_t index, wasinn_tensor* view) {
  return Fill(view, [&](wasinn_tensor* full) { return Echo().output(context, index, full); });
}

wasinn_error* TakeOutput(wasinn_backend_slot* context, uint32_t index, wasinn_tensor* out) {
  return Fill(out, [&](wasinn_tensor* full) { return Echo().take_output(context, index, full); });
}

}  // namespace

const wasinn_backend* wasinn_backend_query(uint16_t, uint16_t) {
  static const NewerTable table = [] {
    NewerTable newer = {Echo(), {}};
    newer.struct_size = sizeof newer;
    newer.output = Output;
    newer.take_output = TakeOutput;
    return newer;
  }();
  return &table;
}
