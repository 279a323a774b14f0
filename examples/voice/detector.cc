#include "detector.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "wasi_nn_ext.h"
#include "wav.h"

namespace {

constexpr size_t kOverlap = 64;

template <typename T>
wasi_nn_tensor Tensor(std::span<const T> values, std::span<const uint32_t> dims) {
  return {dims.data(),   static_cast<uint32_t>(dims.size()),        wasi_nn::type_of<T>(), {},
          values.data(), static_cast<uint32_t>(values.size_bytes())};
}

wasi_nn_tensor FloatTensor(const std::vector<float>& values, std::span<const uint32_t> dims) {
  return Tensor(std::span<const float>(values), dims);
}

// The part of a model's description with its inputs. It is JSON, in which only their names are looked for.
wasi_nn::Status DescribeInputs(const wasi_nn::Graph& graph, std::string* inputs) {
  wasi_nn::Status status = WASI_NN_TOO_LARGE;
  for (uint32_t size = 1024; status.code() == WASI_NN_TOO_LARGE && size > inputs->size();) {
    inputs->resize(size);
    status = wasinn_describe(graph.handle(), inputs->data(), size, &size);
    if (status) inputs->resize(size);
  }
  inputs->resize(std::min(inputs->size(), inputs->find("\"outputs\"")));
  return status;
}

bool Has(const std::string& inputs, const std::string& name) {
  return inputs.find('"' + name + '"') != std::string::npos;
}

}  // namespace

wasi_nn::Status Detector::Set(const char* input, const wasi_nn_tensor& tensor) const {
  return wasinn_set_input_by_name(context_.handle(), input, static_cast<uint32_t>(std::strlen(input)), &tensor);
}

wasi_nn::Status Detector::Open(const std::string& model, std::string* call) {
  wasi_nn::Graph graph;
  *call = "load_by_name";
  if (wasi_nn::Status s = graph.load_by_name(model); !s) return s;
  *call = "describe";
  std::string inputs;
  if (wasi_nn::Status s = DescribeInputs(graph, &inputs); !s) return s;
  *call = "init_execution_context";
  if (wasi_nn::Status s = context_.init(graph); !s) return s;
  for (State state : {State{"state", "stateN", {2, 1, 128}, {}}, State{"h", "hn", {1, 1, 128}, {}},
                      State{"c", "cn", {1, 1, 128}, {}}}) {
    if (!Has(inputs, state.input)) continue;
    state.values.resize(state.dims[0] * state.dims[1] * state.dims[2]);
    states_.push_back(std::move(state));
  }
  window_.resize(states_.empty() ? kChunk : kOverlap + kChunk);
  sound_ = Has(inputs, "x") ? "x" : "input";
  if (!Has(inputs, "sr")) return {};
  *call = "set_input sr";
  constexpr std::array<int64_t, 1> kRate = {kSampleRate};
  return Set("sr", Tensor(std::span<const int64_t>(kRate), {}));
}

wasi_nn::Status Detector::Hear(std::span<const float, kChunk> chunk, float* probability, std::string* call) {
  std::copy(window_.begin() + kChunk, window_.end(), window_.begin());
  std::copy(chunk.begin(), chunk.end(), window_.end() - kChunk);
  const uint32_t dims[] = {1, static_cast<uint32_t>(window_.size())};
  *call = "set_input";
  if (wasi_nn::Status s = Set(sound_, FloatTensor(window_, dims)); !s) return s;
  for (const State& state : states_) {
    if (wasi_nn::Status s = Set(state.input, FloatTensor(state.values, state.dims)); !s) return s;
  }
  *call = "compute";
  if (wasi_nn::Status s = context_.compute(); !s) return s;
  *call = "get_output 0";
  if (wasi_nn::Status s = context_.get_output(0, probability_); !s) return s;
  if (probability_.size() != 1) return WASI_NN_INVALID_ARGUMENT;
  *probability = probability_[0];
  return KeepStates(call);
}

wasi_nn::Status Detector::KeepStates(std::string* call) {
  for (State& state : states_) {
    *call = std::string("get_output ") + state.output;
    const auto size = static_cast<uint32_t>(state.values.size() * sizeof(float));
    uint32_t written = 0;
    const wasi_nn::Status s =
        wasinn_get_output_by_name(context_.handle(), state.output, static_cast<uint32_t>(std::strlen(state.output)),
                                  state.values.data(), size, &written);
    if (!s) return s;
    if (written != size) return WASI_NN_INVALID_ARGUMENT;
  }
  return {};
}
