// TensorFlow, called as any program calls it.
#ifndef WASINN_TESTS_BACKENDS_TENSORFLOW_NATIVE_H_
#define WASINN_TESTS_BACKENDS_TENSORFLOW_NATIVE_H_

#include <string>
#include <utility>
#include <vector>

#include "backends/driver.h"

namespace wasinn::test {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// Run a model once in a session of its own; throw what TensorFlow says. Names are those of tensors in the graph.
std::vector<Tensor> RunNativeGraph(const std::string& graph, const NamedTensors& inputs,
                                   const std::vector<std::string>& outputs);
std::vector<Tensor> RunNativeSavedModel(const std::string& folder, const std::vector<std::string>& tags,
                                        const NamedTensors& inputs, const std::vector<std::string>& outputs);

}  // namespace wasinn::test

#endif  // WASINN_TESTS_BACKENDS_TENSORFLOW_NATIVE_H_
