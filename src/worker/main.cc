// wasinn-worker: runs untrusted models outside of the program that uses them. libwasinn starts it; it is of no use by
// hand.
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

#include "core/isolation/protocol.h"
#include "worker/server.h"
#include "worker/warm_up.h"
#include "worker/zygote.h"

namespace {

using wasinn::base::Descriptor;
using wasinn::isolation::kFirstDescriptor;
using wasinn::isolation::Socket;

// Each takes 128 MiB of addresses, of which a worker has only as many as it needs (sandbox.h).
constexpr int kMaxArenas = 4;

// The host may have few descriptors left at this start: frameworks open more, and zygotes run for long.
void AllowDescriptors() {
  constexpr rlim_t kUsual = 1024;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, kUsual));
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

// Becomes nobody's child, so that the host gets no notice of its end. Before, it begins to watch the host.
wasinn::base::Descriptor LeaveHost() {
  wasinn::base::Descriptor host(static_cast<int>(::syscall(SYS_pidfd_open, ::getppid(), 0)));
  const pid_t pid = ::fork();
  if (pid != 0) ::_exit(pid < 0 ? 1 : 0);
  return host;
}

}  // namespace

int main(int argc, char** argv) {
  const bool begins_anew = argc >= 2 && std::string_view(argv[1]) == "worker";
  if ((argc != 1 && !begins_anew) || ::isatty(STDIN_FILENO) != 0) {
    std::fputs("wasinn-worker is started by libwasinn, not by hand\n", stderr);
    return 2;
  }
  ::mallopt(M_ARENA_MAX, kMaxArenas);
  AllowDescriptors();
  Socket socket((wasinn::base::Descriptor(kFirstDescriptor)));
  // Never freed: threads use it during the whole life of the process.
  auto* framework = new wasinn::worker::FrameworkOf;
  if (begins_anew) framework->SetFolders({argv + 2, argv + argc});  // in BeginAnew's format
  if (!begins_anew) {
    wasinn::base::Descriptor host = LeaveHost();
    auto* parent =
        new wasinn::worker::Zygote(*framework, &wasinn::worker::OpenForWorkers, std::move(socket), std::move(host));
    socket = parent->Run();
  }
  auto* server = new wasinn::worker::Server(*framework);
  server->Run(std::move(socket));
  return 0;
}
