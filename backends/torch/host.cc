#include "torch/host.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <dlfcn.h>
#include <torch/csrc/jit/runtime/print_handler.h>
#include <torch/headeronly/version.h>

#include <mutex>

#include "common/library.h"
#include "torch/call_scope.h"
#include "torch/op_libraries.h"
#include "torch/package.h"

namespace wasinn::torch {

namespace {

// The file with PyTorch's functions.
std::string LibraryPath() { return backend::Library::PathOf(reinterpret_cast<const void*>(&at::get_num_threads)); }

// Functions of PyTorch's libraries: OpenMP's and OpenBLAS's own settings. NULL if it is built without them.
template <typename Function>
Function Helper(const char* name) {
  static void* const handle = dlopen(LibraryPath().c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  return handle == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(handle, name));
}

std::once_flag once;
::torch::jit::PrintHandler print_before = nullptr;

// A TorchScript program's output would go to stdout.
void Print(const std::string& text) {
  if (CallScope* scope = CallScope::Current()) {
    scope->Log(WASINN_LOG_INFO, text);
  } else if (print_before != nullptr) {
    print_before(text);
  }
}

// Settings of the OS process that can only be made once.
void PrepareProcess() {
  InstallAllocator();
  // Else a package of AOTInductor reads as many bytes of an input as it was compiled for, whatever the input has.
  backend::SetForFramework("AOTI_RUNTIME_CHECK_INPUTS", "1");
  print_before = ::torch::jit::getPrintHandler();
  ::torch::jit::setPrintHandler(Print);
  try {
    at::set_num_interop_threads(1);  // prim::fork
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the program uses them already
  }
}

std::atomic<bool> pool_in_use = false;

}  // namespace

int GpuCount() { return at::hasCUDA() ? static_cast<int>(at::detail::getCUDAHooks().deviceCount()) : 0; }

Host::Host(const wasinn_host_services& services, const char* config)
    : HostBase(services), config_(BackendConfig::Parse(config, services.threads)) {
  Describe("PyTorch", TORCH_VERSION, LibraryPath(), GpuCount() > 0 ? "cpu, gpu (CUDA)" : "cpu");
  std::call_once(once, PrepareProcess);
  // One setting for the OS process: that of the last host.
  at::set_num_threads(config_.threads);
  if (const auto set = Helper<void (*)(int)>("openblas_set_num_threads")) set(config_.threads);
}

void Host::OpenCode(const std::string& path) const {
  const ComputeThreads one(1);
  if (path.ends_with(".pt2")) return Package::OpenAhead(path);
  OpenOpLibraries({&path, 1});
}

ComputeThreads::ComputeThreads(int threads) {
  static const auto get = Helper<int (*)()>("omp_get_max_threads");
  static const auto set = Helper<void (*)(int)>("omp_set_num_threads");
  if (get == nullptr || set == nullptr) return;
  at::get_num_threads();  // PyTorch makes its own setting at the first use in a thread
  has_pool_ = threads > 1 && !pool_in_use.exchange(true, std::memory_order_acquire);
  const int wanted = has_pool_ ? threads : 1;
  const int now = get();
  if (now == wanted) return;
  before_ = now;
  set(wanted);
}

ComputeThreads::~ComputeThreads() {
  if (before_ != 0) Helper<void (*)(int)>("omp_set_num_threads")(before_);
  if (has_pool_) pool_in_use.store(false, std::memory_order_release);
}

}  // namespace wasinn::torch
