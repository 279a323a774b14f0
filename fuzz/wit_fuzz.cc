// The calls of a component, as they arrive behind its engine. Whatever a guest did, its quotas hold, dropped objects
// are gone, and an honest inference works in the same host afterwards.
#include <wasinn/wit.h>

#include <array>
#include <cstring>
#include <span>

#include "fuzz/choices.h"
#include "fuzz/component_attack.h"
#include "fuzz/expect.h"
#include "fuzz/in_process_host.h"

namespace wasinn::fuzz {
namespace {

constexpr uint32_t kF32 = 1;  // of tensor-type

const wasinn_wit_functions& Wit() { return *wasinn_wit(); }

void InferHonestly() {
  const HostedGuest guest(kHonestTimeoutMs);
  const std::array<uint32_t, 1> dims = {2};
  const std::array<float, 2> values = {1.5f, -2};
  wasinn_wit_result graph{}, context{}, done{};
  wasinn_wit_view outputs{}, data{};
  uint32_t tensor = 0;
  ExpectOk(Wit().graph_load_by_name(guest.get(), "m", 1, &graph));
  ExpectOk(Wit().graph_init_execution_context(guest.get(), graph.rep, &context));
  ExpectOk(Wit().tensor_new(guest.get(), dims.data(), dims.size(), kF32,
                            reinterpret_cast<const uint8_t*>(values.data()), sizeof(values), &tensor));
  const wasinn_wit_named_tensor input = {"x", 1, tensor};
  ExpectOk(Wit().context_compute(guest.get(), context.rep, &input, 1, &done, &outputs));
  FUZZ_EXPECT(graph.is_error == 0 && context.is_error == 0 && done.is_error == 0 && outputs.count == 1);
  ExpectOk(Wit().tensor_data(guest.get(), static_cast<const wasinn_wit_named_tensor*>(outputs.data)->tensor, &data));
  FUZZ_EXPECT(data.count == sizeof(values) &&
              std::memcmp(data.data, std::as_bytes(std::span(values)).data(), sizeof(values)) == 0);
  data.release(data.owner);
  outputs.release(outputs.owner);
}

}  // namespace
}  // namespace wasinn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  wasinn::fuzz::Choices choices({data, size});
  const wasinn::fuzz::HostedGuest guest;
  wasinn::fuzz::AttackAsComponent(choices, guest.get(), wasinn::fuzz::kMaxBytes);
  wasinn::fuzz::InferHonestly();
  return 0;
}
