// A zygote of workers for worker_host_fuzz, which a host starts. It makes no workers, but passes their channels on to
// the fuzzer, which listens in the folder of this program's name. The fuzzer is the worker.
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <string>
#include <vector>

#include "core/isolation/protocol.h"
#include "core/isolation/socket.h"

namespace {

using wasinn::base::Descriptor;
using wasinn::isolation::kFirstDescriptor;
using wasinn::isolation::kMaxBytes;
using wasinn::isolation::Op;
using wasinn::isolation::Reader;
using wasinn::isolation::Socket;
using wasinn::isolation::Writer;

Socket ConnectTo(const std::string& path) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  if (path.size() >= sizeof(address.sun_path)) return {};
  std::ranges::copy(path, address.sun_path);
  wasinn::base::Descriptor fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!fd.is_open()) return {};
  const bool connected = ::connect(fd.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  return connected ? Socket(std::move(fd)) : Socket();
}

void Answer(Socket& host, int32_t number, std::span<const int> descriptors = {}) {
  std::vector<uint8_t> bytes;
  Writer answer(bytes);
  answer.Number(uint32_t{WASINN_OK});
  answer.Text("");
  answer.Number(number);
  (void)host.Send(answer.written(), descriptors);
}

}  // namespace

int main(int, char** argv) {
  Socket host((wasinn::base::Descriptor(kFirstDescriptor)));
  if (::fork() != 0) ::_exit(0);
  const std::string name = argv[0];
  Socket fuzzer = ConnectTo(name.substr(0, name.rfind('/')) + "/channels");
  if (!fuzzer) return 1;
  // Stands in for a worker's process: it has ended as soon as anybody asks.
  const wasinn::base::Descriptor ended(::eventfd(1, EFD_CLOEXEC));
  const int process = ended.number();
  std::vector<uint8_t> message(kMaxBytes);
  std::array<wasinn::base::Descriptor, 1> channel;
  for (;;) {
    size_t taken = 0;
    const Socket::Received received = host.Receive(message, channel, taken);
    if (received.outcome != Socket::Outcome::kMessage) return 0;
    Reader request({message.data(), received.bytes});
    switch (request.Number<Op>()) {
      case Op::kSpawn: {
        const int passed = channel[0].number();
        if (fuzzer.Send(std::array<uint8_t, 1>{}, {&passed, 1}) != Socket::Sent::kDone) return 1;
        channel[0] = wasinn::base::Descriptor();
        Answer(host, 1, {&process, 1});
        break;
      }
      case Op::kWait:
        Answer(host, SIGKILL);
        break;
      default:
        Answer(host, 0);
    }
  }
}
