#include "worker/zygote.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"
#include "core/isolation/protocol.h"
#include "worker/self_status.h"

namespace wasinn::worker {
namespace {

using isolation::kFirstDescriptor;
using isolation::Op;
using isolation::Reader;
using isolation::Socket;
using isolation::Writer;

// Starts a new program as a worker that opens its framework itself: a fork has none of its parent's threads, and must
// have nothing of a device's driver.
[[noreturn]] void BeginAnew(const Socket& channel, const std::vector<std::string>& folders) {
  if (::dup2(channel.number(), kFirstDescriptor) < 0) ::_exit(1);
  std::vector<char*> arguments = {const_cast<char*>("wasinn-worker"), const_cast<char*>("worker")};
  for (const std::string& folder : folders) arguments.push_back(const_cast<char*>(folder.c_str()));
  arguments.push_back(nullptr);
  ::execve("/proc/self/exe", arguments.data(), environ);
  ::_exit(1);
}

// Any other file can be written, too, and limits no process.
bool IsOfGroups(const base::Descriptor& file) {
  struct statfs system{};
  if (::fstatfs(file.number(), &system) != 0) return false;
  return system.f_type == CGROUP_SUPER_MAGIC || system.f_type == CGROUP2_SUPER_MAGIC;
}

// Forked processes are in it, too.
core::Status JoinGroup(const std::string& folder) {
  if (folder.empty()) return {};
  const base::Descriptor file(::open((folder + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK));
  constexpr std::string_view kThisOne = "0";
  const bool is_other = file.is_open() && !IsOfGroups(file);
  if (file.is_open() && !is_other && ::write(file.number(), kThisOne.data(), kThisOne.size()) == 1) return {};
  return core::Error(WASINN_ERROR_UNAVAILABLE, "workers cannot join the control group {}: {} (workers_cgroup)", folder,
                     is_other ? "it is none" : std::strerror(errno));
}

}  // namespace

bool Zygote::WaitForHost() const {
  std::array<pollfd, 2> all = {{{.fd = socket_.number(), .events = POLLIN, .revents = 0},
                                {.fd = host_.number(), .events = POLLIN, .revents = 0}}};
  while (::poll(all.data(), all.size(), -1) < 0) {
    if (errno != EINTR) return false;
  }
  return all[1].revents == 0;
}

void Zygote::Answer(const core::Status& status, int32_t number, int descriptor) {
  std::vector<uint8_t> bytes;
  Writer answer(bytes);
  answer.Number(static_cast<uint32_t>(status.code()));
  answer.Text(status.message());
  answer.Number(number);
  const auto sent = socket_.Send(answer.written(), descriptor < 0 ? std::span<const int>() : std::span(&descriptor, 1));
  if (sent != Socket::Sent::kDone) ::_exit(1);  // else the host would wait for a minute
}

core::Status Zygote::OpenFramework(Reader& request) {
  isolation::Setting setting;
  setting.Read(request);
  if (!request.ended()) return core::Error(WASINN_ERROR_RUNTIME, "the settings are cut");
  if (core::Status status = JoinGroup(setting.cgroup); !status.ok()) return status;
  if (core::Status status = framework_.Load(setting); !status.ok()) return status;
  return open_(framework_);
}

Socket Zygote::Spawn(base::Descriptor channel) {
  const bool whole = HasOneThread() && !framework_.setting().has_devices;
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    Answer(core::Error(WASINN_ERROR_UNAVAILABLE, "cannot make a process for a worker: {}", std::strerror(errno)), 0,
           -1);
    return {};
  }
  if (pid == 0) {
    // Its parent has only this thread, so this signals the end of the parent, whatever threads a host has.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(0);
    ::setsid();  // if the system shares processors by sessions, each worker gets as much, whatever threads it has
    socket_ = Socket();
    host_ = base::Descriptor();
    framework_.SetInherited();
    Socket end(std::move(channel));
    if (!whole) BeginAnew(end, framework_.folders());
    return end;
  }
  const base::Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process.is_open()) {
    const int error = errno;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    Answer(core::Error(WASINN_ERROR_UNAVAILABLE, "no descriptor of a process; workers need Linux 5.3: {}",
                       std::strerror(error)),
           0, -1);
    return {};
  }
  Answer({}, pid, process.number());
  return {};
}

Socket Zygote::Run() {
  std::vector<uint8_t> buffer(isolation::kMaxBytes);
  std::array<base::Descriptor, 1> descriptors;
  while (WaitForHost()) {
    size_t taken = 0;
    const Socket::Received received = socket_.Receive(buffer, descriptors, taken);
    if (received.outcome != Socket::Outcome::kMessage) break;
    Reader request({buffer.data(), received.bytes});
    switch (request.Number<Op>()) {
      case Op::kOpen:
        Answer(OpenFramework(request), 0, -1);
        break;
      case Op::kSpawn:
        if (Socket channel = Spawn(std::move(descriptors[0]))) return channel;
        descriptors[0] = base::Descriptor();
        break;
      case Op::kWait: {
        int status = 0;
        const auto pid = request.Number<int32_t>();
        const bool ended = pid > 0 && ::waitpid(pid, &status, WNOHANG) == pid;
        Answer(ended ? core::Status() : core::Error(WASINN_ERROR_RUNTIME, "it has not ended"), status, -1);
        break;
      }
      default:
        ::_exit(1);
    }
  }
  ::_exit(0);
}

}  // namespace wasinn::worker
