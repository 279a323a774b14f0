#include "torch/package.h"

#include <ATen/DynamicLibrary.h>
#include <ATen/Version.h>
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/inductor/aoti_runner/model_container_runner_cpu.h>
#include <torch/csrc/inductor/aoti_torch/tensor_converter.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/json.h"
#include "common/throw.h"
#include "torch/signature.h"

namespace wasinn::torch {

using backend::Throw;
namespace fs = std::filesystem;

class Package::Runner final : public ::torch::inductor::AOTIModelContainerRunnerCpu {
 public:
  using AOTIModelContainerRunnerCpu::AOTIModelContainerRunnerCpu;

  size_t InputCount() const { return Count("AOTInductorModelContainerGetNumInputs"); }
  size_t OutputCount() const { return Count("AOTInductorModelContainerGetNumOutputs"); }

  // As run, which leaks inputs if the code fails before it takes them.
  std::vector<at::Tensor> Run(const std::vector<at::Tensor>& inputs) {
    std::vector<AtenTensorHandle> handles = ::torch::aot_inductor::unsafe_alloc_new_handles_from_tensors(inputs);
    try {
      return run_impl(handles, nullptr);
    } catch (const std::exception&) {
      for (AtenTensorHandle left : handles) {
        if (left != nullptr) aoti_torch_delete_tensor_object(left);
      }
      throw;
    }
  }

 private:
  size_t Count(const char* function) const {
    size_t n = 0;
    const auto count = reinterpret_cast<decltype(get_num_outputs_func_)>(model_so_->sym(function));
    if (count(container_handle_, &n) != AOTI_RUNTIME_SUCCESS) {
      Throw(WASINN_ERROR_INVALID_ENCODING, "the AOTInductor package has no number of inputs and outputs");
    }
    return n;
  }
};

namespace {

// Its files are in a folder of this name, in one for each model.
constexpr std::string_view kFolder = "aotinductor/";

struct Opened {
  uint64_t bytes = 0;
  size_t hash = 0;
  std::shared_ptr<const Package> package;
};
struct Ahead {
  std::mutex mutex;
  std::vector<Opened> all;
};
Ahead& OpenedAhead() {
  static Ahead ahead;
  return ahead;
}

size_t HashOf(std::span<const uint8_t> bytes) {
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

// A folder for a package's files, which the system's linker opens. It is gone once they are open.
class Folder {
 public:
  Folder() {
    std::error_code failed;
    std::string name = fs::temp_directory_path(failed) / "wasinn-torch-XXXXXX";
    if (!failed && mkdtemp(name.data()) == nullptr) failed = {errno, std::generic_category()};
    if (failed) {
      Throw(WASINN_ERROR_RUNTIME, "a package's files need a temporary folder, which TMPDIR names: {}",
            failed.message());
    }
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string Write(const std::string& entry, const char* data, size_t bytes) const {
    const fs::path file = path_ / fs::path(entry).filename();
    std::ofstream(file, std::ios::binary).write(data, static_cast<std::streamsize>(bytes)).flush();
    std::error_code ignored;
    if (fs::file_size(file, ignored) != bytes) {
      Throw(WASINN_ERROR_RUNTIME, "there is no room for {} bytes of a package in the folder that TMPDIR names", bytes);
    }
    return file;
  }

 private:
  fs::path path_;
};

// The folder of its only model.
std::string FolderOfModel(std::span<const std::string> entries) {
  std::string found;
  for (const std::string& entry : entries) {
    if (!entry.ends_with(".so")) continue;
    const std::string folder = entry.substr(0, entry.rfind('/') + 1);
    if (!found.empty() && folder != found) {
      Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "the AOTInductor package has several models ({}, {}): expected one",
            found, folder);
    }
    found = folder;
  }
  if (!found.empty()) return found;
  Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
        "the AOTInductor package has sources, and no library: package it without aot_inductor.package_cpp_only");
}

void CheckMetadata(const std::string& text) {
  const auto metadata = base::ParseJson(text);
  if (!metadata.is_object()) return;
  const std::string device = metadata.value("AOTI_DEVICE_KEY", "cpu");
  if (device != "cpu") {
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
          "the AOTInductor package was compiled for {}: expected cpu. Export the model again with everything on the "
          "CPU (model.cpu())",
          device);
  }
  // Its instructions would end this OS process.
  const std::string isa = metadata.value("AOTI_CPU_ISA", ""), has = at::get_cpu_capability();
  if (isa.starts_with("AVX512") && has != "AVX512") {
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
          "the AOTInductor package was compiled for processors with {}, and this one has {}: compile it with "
          "ATEN_CPU_CAPABILITY=avx2",
          isa, has);
  }
}

// The names of a tree's leaves, as Outputs names them. `spec` is PyTorch's: {"type": …, "context": …, "children_spec":
// […]}.
void AddLeaves(const nlohmann::json& spec, const std::string& path, std::vector<std::string>* names) {
  if (spec.at("type").is_null()) {
    names->push_back(path.empty() ? "0" : path);
    return;
  }
  const auto& children = spec.at("children_spec");
  std::vector<std::string> keys;
  const auto& context = spec.at("context");
  if (context.is_string()) {
    const auto list = base::ParseJson(context.get_ref<const std::string&>());
    if (list.is_array() && list.size() == children.size()) {
      for (const auto& key : list) keys.push_back(key.is_string() ? key.get<std::string>() : key.dump());
    }
  }
  for (size_t i = 0; i < children.size(); ++i) {
    AddLeaves(children[i], JoinPath(path, keys.empty() ? std::to_string(i) : keys[i]), names);
  }
}

// Numbers, if the tree has others than the model's tensors. `is_call`: of positional and of named arguments.
std::vector<std::string> NamesOf(const std::string& spec, bool is_call, size_t count) {
  std::vector<std::string> names;
  const auto tree = base::ParseJson(spec);
  try {
    const auto& root = tree.at(1);
    const bool is_pair = is_call && root.at("children_spec").size() == 2;
    if (!is_pair) AddLeaves(root, "", &names);
    for (size_t i = 0; is_pair && i < 2; ++i) AddLeaves(root.at("children_spec")[i], "", &names);
  } catch (const nlohmann::json::exception&) {
    names.clear();
  }
  if (names.size() == count) return names;
  names.clear();
  for (size_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

}  // namespace

bool Package::Is(std::span<const std::string> entries) {
  return std::ranges::any_of(entries, [](const std::string& name) { return name.contains(kFolder); });
}

std::shared_ptr<const Package> Package::Open(caffe2::serialize::PyTorchStreamReader& archive) {
  const std::vector<std::string> entries = archive.getAllRecords();
  const std::string model = FolderOfModel(entries);
  const Folder folder;
  std::string library;
  for (const std::string& entry : entries) {
    if (!entry.starts_with(model)) continue;
    const auto [data, bytes] = archive.getRecord(entry);
    const auto* text = static_cast<const char*>(data.get());
    if (entry.ends_with("_metadata.json")) CheckMetadata(std::string(text, bytes));
    const std::string file = folder.Write(entry, text, bytes);
    if (entry.ends_with(".so")) library = file;
  }
  try {
    return std::shared_ptr<const Package>(new Package(std::make_unique<Runner>(library, kMaxAtOnce)));
  } catch (const c10::DynamicLibraryError& error) {
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
          "the AOTInductor package's library does not open with PyTorch {}, or was compiled for another machine: {}",
          TORCH_VERSION, error.what_without_backtrace());
  }
}

void Package::OpenAhead(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  std::unique_ptr<caffe2::serialize::PyTorchStreamReader> archive;
  try {
    archive = std::make_unique<caffe2::serialize::PyTorchStreamReader>(path);
  } catch (const c10::Error&) {
    return;  // the load says what it is
  }
  if (!Is(archive->getAllRecords())) return;
  const std::span<const uint8_t> all(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  Opened opened = {.bytes = bytes.size(), .hash = HashOf(all), .package = Open(*archive)};
  const std::lock_guard lock(OpenedAhead().mutex);
  OpenedAhead().all.push_back(std::move(opened));
}

std::shared_ptr<const Package> Package::Found(std::span<const uint8_t> bytes) {
  Ahead& ahead = OpenedAhead();
  const std::lock_guard lock(ahead.mutex);
  if (ahead.all.empty()) return nullptr;
  const size_t hash = HashOf(bytes);
  const auto is_it = [&](const Opened& one) { return one.bytes == bytes.size() && one.hash == hash; };
  const auto found = std::ranges::find_if(ahead.all, is_it);
  if (found != ahead.all.end()) return found->package;
  Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
        "the AOTInductor package has changed since its worker was started: give the new one a version or a name of its "
        "own");
}

Package::Package(std::unique_ptr<Runner> runner) : runner_(std::move(runner)) {
  const std::vector<std::string> specs = runner_->get_call_spec();
  inputs_ = NamesOf(specs.at(0), true, runner_->InputCount());
  outputs_ = NamesOf(specs.at(1), false, runner_->OutputCount());
}

Package::~Package() = default;

std::vector<at::Tensor> Package::Run(const std::vector<at::Tensor>& inputs) const {
  try {
    return runner_->Run(inputs);
  } catch (const std::exception&) {  // without a reason, which the code writes to stderr
    Throw(WASINN_ERROR_RUNTIME,
          "the package's code failed, perhaps because an input has another shape or type than the model was exported "
          "for; stderr has its words");
  }
}

}  // namespace wasinn::torch
