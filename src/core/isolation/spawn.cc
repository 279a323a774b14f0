
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/isolation/protocol.h"
#include "core/isolation/zygote.h"

namespace wasinn::isolation {
namespace {

// Variables for finding a framework's libraries, choosing its kernels, and for sanitizers. None of a host's secrets.
constexpr std::array<std::string_view, 10> kPassedOn = {
    "LD_LIBRARY_PATH=", "OPENBLAS_",     "ATEN_CPU_CAPABILITY=", "ONEDNN_",        "MKL_",
    "ASAN_OPTIONS=",    "LSAN_OPTIONS=", "TSAN_OPTIONS=",        "UBSAN_OPTIONS=", "TBB_ENABLE_SANITIZERS="};
// Variables that name devices and drivers, for a worker that may use them.
constexpr std::array<std::string_view, 12> kPassedOnForDevices = {
    "VK_DRIVER_FILES=",     "VK_ICD_FILENAMES=",     "VK_ADD_DRIVER_FILES=",      "CUDA_VISIBLE_DEVICES=",
    "CUDA_DEVICE_ORDER=",   "NVIDIA_TF32_OVERRIDE=", "GGML_VK_VISIBLE_DEVICES=",  "MESA_VK_DEVICE_SELECT=",
    "HIP_VISIBLE_DEVICES=", "ROCR_VISIBLE_DEVICES=", "HSA_OVERRIDE_GFX_VERSION=", "ZE_AFFINITY_MASK="};
// Settings that frameworks take in no other way: no telemetry, no threads of their own, few lines on stderr.
constexpr std::array kSet = {"ORT_DISABLE_TELEMETRY=1", "OPENBLAS_NUM_THREADS=1", "TF_CPP_MIN_LOG_LEVEL=3"};

bool IsSet(std::string_view variable) {
  const std::string_view name = variable.substr(0, variable.find('=') + 1);
  return std::ranges::any_of(kSet, [name](std::string_view one) { return one.starts_with(name); });
}

bool Passes(std::string_view variable, bool has_devices) {
  const auto begins_it = [variable](std::string_view name) { return variable.starts_with(name); };
  return std::ranges::any_of(kPassedOn, begins_it) ||
         (has_devices && std::ranges::any_of(kPassedOnForDevices, begins_it));
}

std::vector<char*> Environment(bool has_devices) {
  std::vector<char*> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view it = *variable;
    if (Passes(it, has_devices) && !IsSet(it)) variables.push_back(*variable);
  }
  for (const char* variable : kSet) variables.push_back(const_cast<char*>(variable));
  variables.push_back(nullptr);
  return variables;
}

class Actions {
 public:
  Actions() { ::posix_spawn_file_actions_init(&actions_); }
  ~Actions() { ::posix_spawn_file_actions_destroy(&actions_); }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;

  // 0: success.
  int Fill(int socket) {
    int error = 0;
    for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      if (error == 0) error = ::posix_spawn_file_actions_addopen(&actions_, fd, "/dev/null", O_RDWR, 0);
    }
    if (error == 0) error = ::posix_spawn_file_actions_adddup2(&actions_, socket, kFirstDescriptor);
    if (error == 0) error = ::posix_spawn_file_actions_addclosefrom_np(&actions_, kFirstDescriptor + 1);
    if (error == 0) error = ::posix_spawn_file_actions_addchdir_np(&actions_, "/");
    return error;
  }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

class Attributes {
 public:
  Attributes() {
    ::posix_spawnattr_init(&attributes_);
    sigset_t none{}, all{};
    sigemptyset(&none);
    sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    // A session of its own: a terminal's signals are for the host.
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  }
  ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

}  // namespace

core::Status StartProgram(const std::string& path, bool has_devices, const Socket& socket) {
  Actions actions;
  const Attributes attributes;
  // If a descriptor is the third already, it would be closed at the start of the new program.
  base::Descriptor other;
  int fd = socket.number();
  if (fd == kFirstDescriptor) {
    other = base::Descriptor(::fcntl(fd, F_DUPFD_CLOEXEC, kFirstDescriptor + 1));
    fd = other.number();
  }
  int error = fd < 0 ? errno : actions.Fill(fd);
  pid_t pid = 0;
  std::vector<char*> environment = Environment(has_devices);
  const std::array<char*, 2> arguments = {const_cast<char*>(path.c_str()), nullptr};
  if (error == 0) {
    error = ::posix_spawn(&pid, path.c_str(), actions.get(), attributes.get(), arguments.data(), environment.data());
  }
  if (error != 0) return core::Error(WASINN_ERROR_UNAVAILABLE, "cannot start {}: {}", path, std::strerror(error));
  // The first of two processes: it ends at once. A host that waits for any child, or for none, may be faster.
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return {};
}

}  // namespace wasinn::isolation
