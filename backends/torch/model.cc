#include "torch/model.h"

#include <ATen/Context.h>
#include <c10/core/InferenceMode.h>
#include <caffe2/serialize/inline_container.h>
#include <caffe2/serialize/read_adapter_interface.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/headeronly/version.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/on_cancel.h"
#include "common/config.h"
#include "common/large_stack.h"
#include "common/model_bytes.h"
#include "common/target.h"
#include "common/throw.h"
#include "torch/call_scope.h"
#include "torch/op_libraries.h"

namespace wasinn::torch {

using backend::Error;
using backend::Throw;
namespace jit = ::torch::jit;

struct Model::Source {
  std::span<const uint8_t> bytes;
  const ModelConfig& config;
  CallScope::Subject subject;
};

namespace {

// Reading, unpickling and moving each have one copy of the weights.
constexpr uint64_t kCopiesOfModel = 4;
// PyTorch's parser and compiler are recursive: SandboxOptions::stack_bytes of a worker allows for it.
constexpr size_t kParserStack = size_t{1} << 30;

class BlobReader final : public caffe2::serialize::ReadAdapterInterface {
 public:
  explicit BlobReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  size_t size() const override { return bytes_.size(); }
  size_t read(uint64_t at, void* to, size_t n, const char* /*what*/) const override {
    if (at >= bytes_.size()) return 0;
    const size_t length = std::min<uint64_t>(n, bytes_.size() - at);
    std::memcpy(to, bytes_.data() + at, length);
    return length;
  }

 private:
  std::span<const uint8_t> bytes_;
};

// By the names of an archive's entries. Throws WASINN_ERROR_UNSUPPORTED_OPERATION for those of torch.save and
// torch.export.
void CheckKind(std::span<const std::string> names) {
  const auto has = [names](std::string_view name) { return std::ranges::find(names, name) != names.end(); };
  if (has("data.pkl") && has("constants.pkl")) return;
  if (has("archive_format") || has("serialized_exported_program.json")) {
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
          "this is what torch.export.save writes, which only Python can run. `python3 -c 'import torch; "
          "torch.onnx.export(torch.export.load(\"model.pt2\"), f=\"model.onnx\")'` makes ONNX of it; "
          "torch._inductor.aoti_compile_and_package(torch.export.load(\"model.pt2\"), package_path=\"aoti.pt2\") makes "
          "native code, for a model that the host names");
  }
  if (has("data.pkl")) {
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
          "this is what torch.save writes, tensors without code: expected TorchScript (torch.jit.save)");
  }
  Throw(WASINN_ERROR_INVALID_ENCODING,
        "these bytes are not a TorchScript model: the archive has no data.pkl and constants.pkl");
}

// Throws if it is missing.
void CheckDevice(const c10::Device& device) {
  if (device.is_cpu()) return;
  if (!device.is_cuda()) Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "PyTorch's device {} is not served", device.str());
  const int gpus = GpuCount();
  if (gpus > 0 && (!device.has_index() || device.index() < gpus)) return;
  Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "the device {} is not there: this PyTorch {}", device.str(),
        at::hasCUDA() ? fmt::format("sees {} GPUs", gpus)
                      : std::string("sees no GPU: it is built for CPUs only, or there is no driver; [backends.torch] "
                                    "library names one with CUDA"));
}

// Best first. Throws if the target's device is missing.
std::vector<c10::Device> DevicesFor(uint32_t target) {
  const c10::Device cpu(c10::DeviceType::CPU);
  std::vector<c10::Device> devices;
  if (target == WASINN_TARGET_TPU) {
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "this PyTorch has no TPU; devices: cpu, and cuda where there is a GPU");
  }
  if (target == WASINN_TARGET_GPU || (target == WASINN_TARGET_AUTO && GpuCount() > 0)) {
    devices.emplace_back(c10::DeviceType::CUDA, c10::DeviceIndex{0});
  }
  if (target != WASINN_TARGET_GPU) devices.push_back(cpu);
  CheckDevice(devices.front());
  return devices;
}

c10::Device ConfiguredDevice(const std::string& configured) {
  try {
    const c10::Device device(configured);
    CheckDevice(device);
    return device;
  } catch (const c10::Error&) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "device: expected cpu, cuda or cuda:N, found {}", configured);
  }
}

// The operator or class that a load has failed for. Empty if it has failed for another reason.
std::string UnknownName(const std::string& message) {
  constexpr std::string_view kOperator = "Unknown builtin op: ", kClass = "__torch__.torch.classes.";
  constexpr std::string_view kOfNames = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:";
  size_t at = message.find(kOperator);
  if (at != std::string::npos) {
    at += kOperator.size();
  } else if (message.contains("Unknown type name") || message.contains("Class Namespace")) {
    at = message.find(kClass);
    if (at != std::string::npos) at += kClass.size();
  }
  if (at == std::string::npos) return "";
  std::string name = message.substr(at, message.find_first_not_of(kOfNames, at) - at);
  while (name.ends_with('.')) name.pop_back();
  return name;
}

// The error of a failed load; call it only in a catch block.
[[noreturn]] void FailLoad(const MemoryBudget& budget, const std::atomic<bool>& cancelled) {
  const std::string message = MessageOfCurrentException();
  if (cancelled) Throw(WASINN_ERROR_TIMEOUT, "loading the model was cancelled");
  if (budget.refused() != 0) {
    Throw(WASINN_ERROR_TOO_LARGE,
          "loading the model needs {} bytes more than the {} it uses: no more than {} are allowed", budget.refused(),
          budget.used(), budget.limit());
  }
  if (const std::string unknown = UnknownName(message); !unknown.empty()) {
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "the model has {}, which PyTorch {} does not have. {}", unknown,
          TORCH_VERSION, backend::kOpLibrariesAdvice);
  }
  std::string words = "loading the TorchScript model: " + message;
  if (message.contains("maximum supported version for reading")) {
    words = backend::TooNew(std::move(words), "PyTorch", TORCH_VERSION, "save the model again with an older PyTorch");
  }
  throw Error(WASINN_ERROR_INVALID_ENCODING, words);
}

}  // namespace

Model::Model(const Host& host, std::span<const wasinn_builder> builders, const wasinn_load_options& options)
    : ModelBase(host),
      from_guest_(!builders.empty() && builders.front().path == nullptr),
      device_(c10::DeviceType::CPU) {
  const wasinn_builder& builder = backend::OneBuilder(builders, options, "pytorch", "a TorchScript model");
  if (from_guest_ && !host.config().guest_models) {
    Throw(WASINN_ERROR_SECURITY, "[backends.torch] guest_models: models from guests are not loaded");
  }
  const ModelConfig config = ModelConfig::Parse(options.host_config, host.config());
  OpenOpLibraries(config.op_libraries);
  const std::span<const uint8_t> bytes(builder.data, builder.size);
  const auto load = [&](const c10::Device& device) {
    device_ = device;
    LoadWithin(bytes, options, config);
  };
  // The key names one device, which no other replaces.
  if (config.device) {
    load(ConfiguredDevice(*config.device));
    return;
  }
  backend::LoadOnTarget(
      options, host.fallback(), c10::Device(c10::DeviceType::CPU), [&] { return DevicesFor(options.target); }, load);
}

void Model::LoadWithin(std::span<const uint8_t> bytes, const wasinn_load_options& options, const ModelConfig& config) {
  module_ = {}, package_ = nullptr;  // the load on another device failed
  uint64_t limit = 0;
  if (options.max_bytes != 0 && __builtin_add_overflow(options.max_bytes, kCopiesOfModel * bytes.size(), &limit)) {
    limit = 0;
  }
  const auto budget = std::make_shared<MemoryBudget>(limit);
  std::atomic<bool> cancelled = false;
  // Stops it at the next allocation.
  const base::OnCancel on_cancel(options, [&cancelled] { cancelled = true; });
  const Source source = {
      .bytes = bytes, .config = config, .subject = {.log = &host_.log(), .budget = budget, .cancelled = &cancelled}};
  backend::RunOnLargeStack(kParserStack, [&] {
    try {
      Load(source);
    } catch (const Error&) {
      if (cancelled) FailLoad(*budget, cancelled);
      throw;
    } catch (...) {
      FailLoad(*budget, cancelled);
    }
  });
  // The rest of all allocations.
  if (effects_.stateful) copy_bytes_ = budget->used();
}

void Model::Load(const Source& source) {
  CallScope scope(source.subject);
  const LogWarnings warnings;
  const c10::InferenceMode inference;
  const auto reader = std::make_shared<BlobReader>(source.bytes);
  // For a new reader: a version and an identity.
  constexpr int kBlocksOfOpening = 2;
  scope.Spare(kBlocksOfOpening);
  caffe2::serialize::PyTorchStreamReader archive(reader);
  const std::vector<std::string> entries = archive.getAllRecords();
  if (Package::Is(entries)) return LoadPackage(source, archive);
  CheckKind(entries);
  scope.Spare(kBlocksOfOpening);
  jit::ExtraFilesMap no_extra;
  // The source's origin is only for messages, and comes in a pickle of its own.
  module_ = jit::import_ir_module(std::make_shared<jit::CompilationUnit>(), reader, c10::Device(c10::DeviceType::CPU),
                                  no_extra, /*load_debug_files=*/!from_guest_);
  if (from_guest_) RefuseFiles(module_);
  const auto forward = module_.find_method("forward");
  if (!forward) Throw(WASINN_ERROR_INVALID_ENCODING, "the TorchScript model has no method 'forward'");
  PutOn(device_, module_);
  module_.eval();
  if (source.config.op_libraries.empty()) CheckHasNoneOfLibraries(module_);
  signature_ = std::make_unique<Signature>(forward->function().getSchema(), source.config.list_inputs);
  SaySilentAliases(module_);
  CopyWrittenConstants(module_);
  effects_ = FindEffects(*forward);
  signature_->set_stateful(effects_.stateful);
  MakeLoopsCancellable(module_);
  if (!device_.is_cpu()) module_.to(device_);
  description_ = fmt::format(R"({{"device": "{}", "stateful": {}}})", device_.str(), effects_.stateful);
}

void Model::LoadPackage(const Source& source, caffe2::serialize::PyTorchStreamReader& archive) {
  package_ = from_guest_ ? Package::Found(source.bytes) : Package::Open(archive);
  if (package_ == nullptr) {
    Throw(WASINN_ERROR_SECURITY,
          "this is an AOTInductor package, which is native code: only a model that the host names may be one, from a "
          "file whose name ends in .pt2, and no model that comes as bytes");
  }
  if (!device_.is_cpu()) Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "AOTInductor packages are served on the CPU only");
  signature_ = std::make_unique<Signature>(package_->inputs(), package_->outputs());
  signature_->set_max_parallel(Package::kMaxAtOnce);
  effects_ = {.writes_input = std::vector<bool>(package_->inputs().size(), true)};  // nothing says that it does not
  description_ = R"({"device": "cpu", "stateful": false})";
}

}  // namespace wasinn::torch
