// Implements wasinn/wit.h: wasi:nn, the component form of the standard.
#pragma once

#include <wasinn/wit.h>

namespace wasinn::abi {

const wasinn_wit_functions& WitFunctions();

// Those whose work goes on while the guest does.
wasinn_status* TaskLoad(wasinn_guest* guest, const wasinn_bytes* builders, size_t count, uint32_t encoding,
                        uint32_t target, wasinn_wit_done done, wasinn_wit_task** task);
wasinn_status* TaskLoadByName(wasinn_guest* guest, const char* name, size_t size, wasinn_wit_done done,
                              wasinn_wit_task** task);
wasinn_status* TaskCompute(wasinn_guest* guest, uint32_t context, const wasinn_wit_named_tensor* inputs, size_t count,
                           uint32_t may_stay, wasinn_wit_done done, wasinn_wit_task** task);
wasinn_status* TaskGenerate(wasinn_guest* guest, uint32_t context, const wasinn_wit_named_tensor* inputs, size_t count,
                            wasinn_wit_task** task);
wasinn_status* TaskStep(wasinn_wit_task* task, wasinn_wit_done done);
wasinn_status* TaskTake(wasinn_wit_task* task, wasinn_wit_result* out, wasinn_wit_view* values);
void TaskFree(wasinn_wit_task* task);

}  // namespace wasinn::abi
