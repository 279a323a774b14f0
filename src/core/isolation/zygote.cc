#include "core/isolation/zygote.h"

#include <fcntl.h>
#include <poll.h>
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

// Starts a program, at an absolute path. It gets `socket` as its third descriptor and no other one, `/` as its folder,
// and little of the environment: with `has_devices` also the variables that name devices and their drivers. It forks
// and leaves its parent, so that no code here is notified of its end.
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

}  // namespace

core::Status Zygote::Gone() {
  gone_.store(true, std::memory_order_release);
  return core::Status(WASINN_ERROR_UNAVAILABLE,
                      "the process that starts workers has ended; the next load starts another", setting_.backend);
}

core::Status Zygote::Ask(Writer& request, std::span<const int> descriptors, std::span<base::Descriptor> received,
                         Reader& answer) {
  CollectSpare();
  core::Status status = Send(request, descriptors);
  return status.ok() ? Receive(received, answer) : std::move(status);
}

core::Status Zygote::Send(Writer& request, std::span<const int> descriptors) {
  if (gone()) return Gone();
  if (request.used() > kMaxBytes) {
    return core::Error(WASINN_ERROR_TOO_LARGE, "the settings of backend '{}' are too long", setting_.backend);
  }
  if (started_in_.is_elsewhere())
    return core::Status(WASINN_ERROR_UNAVAILABLE, "this OS process was forked off its host", setting_.backend);
  const Socket::Sent sent = socket_.Send(request.written(), descriptors);
  if (sent == Socket::Sent::kRefused) {
    return core::Status(WASINN_ERROR_UNAVAILABLE, "the system lets no more descriptors pass to processes",
                        setting_.backend);
  }
  return sent == Socket::Sent::kDone ? core::Status() : Gone();
}

// A late answer would be mistaken for the answer to another question, and a worker's process for another's.
core::Status Zygote::Receive(std::span<base::Descriptor> received, Reader& answer) {
  if (gone()) return Gone();
  size_t taken = 0;
  const Socket::Received got = socket_.Receive(buffer_, received, taken);
  if (got.outcome != Socket::Outcome::kMessage || got.bytes > buffer_.size()) return Gone();
  answer = Reader({buffer_.data(), got.bytes});
  const auto code = answer.Number<uint32_t>();
  const std::string_view message = answer.Text();
  if (!answer.ok()) return Gone();
  if (code != WASINN_OK) return core::Status(static_cast<wasinn_code>(code), std::string(message), setting_.backend);
  return taken == received.size() ? core::Status() : Gone();
}

core::Status Zygote::SetPatience(std::chrono::milliseconds wait) {
  const std::lock_guard lock(mutex_);
  return socket_.SetPatience(wait);
}

core::Result<std::shared_ptr<Zygote>> Zygote::Start(const Setting& setting, bool spares) {
  ASSIGN_OR_RETURN(auto pair, Socket::MakePair());
  RETURN_IF_ERROR(StartProgram(setting.worker, setting.has_devices, pair.second));
  pair.second = Socket();
  std::shared_ptr<Zygote> made(new Zygote(std::move(pair.first), setting, spares));
  RETURN_IF_ERROR(made->SetPatience(kPatience));
  std::vector<uint8_t> bytes;
  Writer request(bytes);
  request.Number(Op::kOpen);
  setting.Write(request);
  Reader answer;
  const std::lock_guard lock(made->mutex_);
  RETURN_IF_ERROR(made->Ask(request, {}, {}, answer));
  return made;
}

// Requests a worker, and does not wait for it. To `prepare` itself, it gets that request on its channel.
core::Status Zygote::Order(bool prepare) {
  ASSIGN_OR_RETURN(auto pair, Socket::MakePair());
  std::vector<uint8_t> bytes;
  Writer request(bytes);
  if (prepare) {
    request.Number(Op::kPrepare);
    setting_.Write(request);
    if (pair.first.Send(request.written()) != Socket::Sent::kDone) {
      return core::Status(WASINN_ERROR_UNAVAILABLE, "the system has no memory for a message to a worker",
                          setting_.backend);
    }
    request.Clear();
  }
  request.Number(Op::kSpawn);
  const int channel = pair.second.number();
  RETURN_IF_ERROR(Send(request, {&channel, 1}));
  ordered_ = std::move(pair.first);
  return {};
}

core::Result<Zygote::Worker> Zygote::Collect() {
  Worker worker{.channel = std::move(*ordered_), .process = base::Descriptor()};
  ordered_.reset();
  Reader answer;
  RETURN_IF_ERROR(Receive({&worker.process, 1}, answer));
  worker.pid = answer.Number<int32_t>();
  return worker;
}

// Answers come in the order of the questions, so this one comes before any other.
void Zygote::CollectSpare() {
  if (!ordered_) return;
  if (auto worker = Collect()) spare_ = std::move(*worker);
}

// A spare that lives: a shortage of memory may have killed it.
std::optional<Zygote::Worker> Zygote::TakeSpare() {
  CollectSpare();
  if (!spare_) return {};
  Worker worker = std::move(*spare_);
  spare_.reset();
  pollfd ended{.fd = worker.process.number(), .events = POLLIN, .revents = 0};
  if (::poll(&ended, 1, 0) == 0) return worker;
  (void)WaitFor(worker.pid);
  return {};
}

// Workers that are still missing get the next turn.
void Zygote::WaitForLate() {
  std::erase_if(late_, [this](pid_t worker) { return WaitFor(worker).has_value(); });
}

core::Result<Zygote::Worker> Zygote::SpareOrNew() {
  WaitForLate();
  if (std::optional<Worker> spare = TakeSpare()) return std::move(*spare);
  RETURN_IF_ERROR(Order(false));
  return Collect();
}

// Without a spare the next guest waits a little longer.
void Zygote::OrderSpare() noexcept try { (void)Order(true); } catch (const std::exception&) {
}

core::Result<Zygote::Worker> Zygote::Spawn() {
  const std::lock_guard lock(mutex_);
  core::Result<Worker> worker = SpareOrNew();
  if (worker && spares_ && spawned_) OrderSpare();
  spawned_ = true;
  return worker;
}

// The wait status, as from waitpid.
core::Result<int> Zygote::WaitFor(pid_t worker) {
  Writer request(request_);
  request.Number(Op::kWait);
  request.Number(static_cast<int32_t>(worker));
  Reader answer;
  RETURN_IF_ERROR(Ask(request, {}, {}, answer));
  return answer.Number<int32_t>();
}

std::string Zygote::EndOf(const Worker& worker) noexcept try {
  pollfd ended{.fd = worker.process.number(), .events = POLLIN, .revents = 0};
  constexpr int kMilliseconds = 2000;
  const bool has_ended = ::poll(&ended, 1, kMilliseconds) > 0;
  const std::lock_guard lock(mutex_);
  if (!has_ended) {
    if (std::ranges::find(late_, worker.pid) == late_.end()) late_.push_back(worker.pid);
    return "it has not ended yet";
  }
  const core::Result<int> waited = WaitFor(worker.pid);
  std::erase(late_, worker.pid);
  if (!waited) return "it ended";
  const int status = *waited;
  if (WIFEXITED(status)) return fmt::format("it ended with code {}", WEXITSTATUS(status));
  if (!WIFSIGNALED(status)) return "it ended";
  const char* what = ::sigdescr_np(WTERMSIG(status));
  return fmt::format("it was ended by signal {} ({})", WTERMSIG(status), what == nullptr ? "?" : what);
} catch (const std::exception&) {
  return "it ended";
}

}  // namespace wasinn::isolation
