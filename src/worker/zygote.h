// The process that has opened a framework, and forks workers: no guest's bytes reach it.
#pragma once

#include <sys/types.h>

#include "core/isolation/socket.h"
#include "worker/framework.h"

namespace wasinn::worker {

class Zygote {
 public:
  // Opens as much of the framework as workers can inherit. `host` is a pidfd of the program that started this one.
  using Open = core::Status (*)(FrameworkOf& framework);
  Zygote(FrameworkOf& framework, Open open, isolation::Socket socket, base::Descriptor host)
      : framework_(framework), open_(open), socket_(std::move(socket)), host_(std::move(host)) {}

  // Returns when the host closes the channel or ends. In a forked process it returns the first channel of a worker.
  isolation::Socket Run();

 private:
  bool WaitForHost() const;
  core::Status OpenFramework(isolation::Reader& request);
  // A worker's channel; returns in that worker.
  isolation::Socket Spawn(base::Descriptor channel);
  void Answer(const core::Status& status, int32_t number, int descriptor);

  FrameworkOf& framework_;
  const Open open_;
  isolation::Socket socket_;
  base::Descriptor host_;
};

}  // namespace wasinn::worker
