// The devices that a model names itself.
#pragma once

#include <c10/core/Device.h>
#include <torch/csrc/jit/api/module.h>

namespace wasinn::torch {

// A model that was traced or written on a GPU has that in its code and attributes, as "cuda:0". Loading moves tensors
// only. From now on each GPU that it names is `device`. One whose name the code makes as it runs is not found.
void PutOn(const c10::Device& device, const ::torch::jit::Module& module);

}  // namespace wasinn::torch
