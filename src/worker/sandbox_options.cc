#include "worker/sandbox_options.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace wasinn::worker {
namespace {

constexpr uint64_t kGibibyte = uint64_t{1} << 30;

// Its StringNormalizer takes a locale, which the backend reads before the seal.
SandboxOptions OnnxRuntime() { return {.readable = {"/usr/lib/locale"}}; }

// It compiles each model. For each it also lists its own folder, and checks whether a file exists.
SandboxOptions OpenVino() {
  return {.more_calls = {"fcntl", "getdents64", "newfstatat", "openat", "stat"}, .exec_memory = true};
}

// oneDNN compiles its convolutions, and has no other way. OpenBLAS would start a thread for each processor.
SandboxOptions Torch() {
  return {.exec_memory = true,
          .stack_bytes = kGibibyte,  // kParserStack of the backend
          .environment = {{"OPENBLAS_NUM_THREADS", "1"}}};
}

// Its mutexes query their thread's priority, and complain on stderr if denied. It has kernels instead of oneDNN's.
SandboxOptions TensorFlow(bool has_exec_memory) {
  SandboxOptions options = {.more_calls = {"sched_getparam", "sched_getscheduler"}, .exec_memory = has_exec_memory};
  if (!has_exec_memory) options.environment = {{"TF_ENABLE_ONEDNN_OPTS", "0"}};
  return options;
}

bool HasTiles() {
#ifdef __x86_64__
  constexpr int kSupported = 0x1021, kTileData = 18;  // ARCH_GET_XCOMP_SUPP of asm/prctl.h, XFEATURE_XTILEDATA
  uint64_t features = 0;
  return syscall(SYS_arch_prctl, kSupported, &features) == 0 && (features >> kTileData & 1) != 0;
#else
  return false;
#endif
}

// Before each compute it requests AMX again. Without AMX it gets other results, and complains on stderr.
SandboxOptions Llama() {
  SandboxOptions options = {.stack_bytes = kGibibyte / 4};  // kSchemaStack and kGrammarStack of the backend
  if (HasTiles()) options.more_calls.emplace_back("arch_prctl");
  return options;
}

SandboxOptions Special(std::string_view backend, bool has_exec_memory) {
  if (backend == "onnx") return OnnxRuntime();
  if (backend == "openvino") return OpenVino();
  if (backend == "torch") return Torch();
  if (backend == "tensorflow") return TensorFlow(has_exec_memory);
  if (backend == "llama") return Llama();
  return {};
}

}  // namespace

SandboxOptions SandboxOptionsOf(std::string_view backend, bool has_exec_memory) {
  SandboxOptions options = Special(backend, has_exec_memory);
  // Without these some frameworks compute with slower kernels, and TensorFlow does not compute at all.
  options.readable.insert(options.readable.end(), {"/proc/cpuinfo", "/sys/devices/system", "/dev/urandom"});
  // For backends that take turns in redirecting their framework's stderr. The file reveals much about this process.
  if (!options.reads_when_sealed()) options.readable.push_back("/proc/self");
  return options;
}

}  // namespace wasinn::worker
