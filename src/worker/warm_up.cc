#include "worker/warm_up.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/memory/tensor.h"
#include "worker/framework_folders.h"
#include "worker/self_status.h"
#include "worker/slot.h"

namespace wasinn::worker {
namespace {

// A model with one input.
struct Model {
  std::string_view backend;
  const char* format;
  std::string_view bytes;
};
constexpr Model kModels[] = {
#include "worker/warm_up_models.inc"
};

// On a device if there is one and it may be used, so that its driver has opened and started everything, too.
core::Status Load(Graph& graph, const Model& model, bool has_devices) {
  auto segment = isolation::Segment::Make(model.bytes.size());
  if (!segment) return std::move(segment.error());
  std::ranges::copy(model.bytes, segment->data());
  const wasinn_builder* blob = Part::Make(std::move(*segment), model.bytes.size());
  wasinn_load_options options{};
  options.struct_size = sizeof(options);
  options.format = model.format;
  options.host_config = options.guest_config = "{}";
  options.target = has_devices ? WASINN_TARGET_AUTO : WASINN_TARGET_CPU;
  options.cpu_fallback = has_devices ? 1 : 0;
  options.account = &graph.account;
  core::Backend& backend = graph.backend;
  core::Status status = backend.Take(backend.table().load(backend.state(), &blob, 1, &options, &graph.graph));
  blob->release(blob->owner);
  if (!status.ok()) return status;
  const wasinn_info* info = nullptr;
  status = backend.Take(backend.table().info(graph.graph, &info));
  if (status.ok()) graph.info = *info;
  return status;
}

struct Tensor {
  uint32_t dtype;
  std::vector<int64_t> dims;
  uint64_t bytes;
};

// Open sizes of the model are 1.
Tensor InputOf(const wasinn_io& io) {
  Tensor tensor{
      .dtype = io.dtype == WASINN_DTYPE_UNKNOWN ? uint32_t{WASINN_DTYPE_F32} : io.dtype, .dims = {1}, .bytes = 0};
  if (io.rank >= 0) tensor.dims.assign(io.dims, io.dims + io.rank);
  std::ranges::replace_if(tensor.dims, [](int64_t dim) { return dim < 0; }, 1);
  tensor.bytes = core::ByteSize(tensor.dtype, tensor.dims).value_or(0);
  return tensor;
}

// In the format of a host's request.
std::vector<uint8_t> Request(const Tensor& input) {
  std::vector<uint8_t> bytes;
  isolation::Writer writer(bytes);
  writer.Number(uint64_t{1});  // turn
  writer.Number(uint8_t{0});   // no reset
  writer.Number(uint32_t{1});  // bindings: index, segment, offset
  writer.Number(uint32_t{0});
  writer.Number(isolation::kArea);
  writer.Number(uint64_t{0});
  isolation::WriteDesc(writer, input.dtype, input.dims, input.bytes);
  isolation::WriteComputeOptions(writer, {});
  bytes.resize(writer.used());
  return bytes;
}

// The memory that a framework needs for them, whatever the outputs turn out to be.
uint64_t OutputBytes(const wasinn_info& info) {
  uint64_t bytes = 4096;
  if (info.outputs == nullptr) return bytes;
  for (uint32_t i = 0; i < info.n_outputs; ++i) {
    bytes += isolation::RoundUp(core::StaticSize(*info.outputs[i]).value_or(0));
  }
  return bytes;
}

core::Status Compute(core::Backend& backend, const Model& model, bool has_devices) {
  const auto graph = std::make_shared<Graph>(backend, UINT64_MAX);
  if (core::Status status = Load(*graph, model, has_devices); !status.ok()) return status;
  Slot slot(graph, UINT64_MAX);
  if (core::Status status = slot.Open(0, "{}"); !status.ok()) return status;
  const Tensor input = InputOf(*graph->info.inputs[0]);
  auto inputs = isolation::Segment::Make(isolation::RoundUp(input.bytes)),
       outputs = isolation::Segment::Make(OutputBytes(graph->info));
  if (!inputs || !outputs) return core::Error(WASINN_ERROR_TOO_LARGE, "there is no memory");
  if (core::Status status = slot.UseInputArea(std::move(*inputs)); !status.ok()) return status;
  if (core::Status status = slot.UseOutputArea(std::move(*outputs)); !status.ok()) return status;
  const std::vector<uint8_t> request = Request(input);
  isolation::Reader reader(request);
  std::vector<uint8_t> answer;
  isolation::Writer payload(answer);
  return slot.Compute(reader, payload);
}

// Frameworks whose state does not survive a fork, after they are opened or after a compute.
constexpr std::array<std::string_view, 1> kOpenedByWorkers = {"tensorflow"};
constexpr std::array<std::string_view, 2> kWarmedUpByWorkers = {"tensorflow", "openvino"};

bool IsAmong(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

core::Status WarmUp(FrameworkOf& framework) {
  const auto model = std::ranges::find(kModels, framework.setting().backend, &Model::backend);
  if (framework.warm() || model == std::end(kModels)) return {};
  core::Status status = Compute(framework.backend(), *model, framework.setting().has_devices);
  if (status.ok()) framework.SetWarm();
  return status;
}

core::Status OpenForWorkers(FrameworkOf& framework) {
  if (framework.setting().has_devices) return FindFolders(framework);
  const std::string& name = framework.setting().backend;
  if (IsAmong(kOpenedByWorkers, name)) return {};
  if (core::Status status = framework.Open(); !status.ok()) return status;
  // With threads, workers begin from scratch. An error here happens again in each of them, which reports it.
  if (HasOneThread() && !IsAmong(kWarmedUpByWorkers, name)) (void)WarmUp(framework);
  return {};
}

}  // namespace wasinn::worker
