// The process that has opened a framework, and makes workers: no guest's bytes reach it.
#pragma once

#include <sys/types.h>

#include "core/isolation/socket.h"
#include "worker/framework.h"

namespace wasinn::worker {

class Zygote {
 public:
  // `open` is how much of the framework it opens. `host` is a pidfd of the program that started this one.
  using Open = core::Status (*)(FrameworkOf& framework);
  Zygote(FrameworkOf& framework, Open open, isolation::Socket socket, base::Descriptor host)
      : framework_(framework), open_(open), socket_(std::move(socket)), host_(std::move(host)) {}

  // Until the host hangs up or ends. In a process that it made it returns the first channel of a worker.
  isolation::Socket Run();

 private:
  bool WaitForHost() const;
  core::Status OpenFramework(isolation::Reader& request);
  // A worker's channel, in that worker.
  isolation::Socket Spawn(base::Descriptor channel);
  void Answer(const core::Status& status, int32_t number, int descriptor);

  FrameworkOf& framework_;
  const Open open_;
  isolation::Socket socket_;
  base::Descriptor host_;
};

}  // namespace wasinn::worker
