// A worker: answers its host's requests, on as many channels as the host opens.
#pragma once

#include <optional>
#include <span>

#include "core/isolation/socket.h"
#include "worker/framework.h"
#include "worker/objects.h"
#include "worker/sandboxed_framework.h"
#include "worker/slot.h"

namespace wasinn::worker {

class Server {
 public:
  explicit Server(FrameworkOf& framework) : framework_(framework), sandbox_(framework) {}

  // Serves the first channel, until the host closes it.
  void Run(isolation::Socket channel);

 private:
  using Descriptors = std::span<base::Descriptor>;
  // The objects whose reservations an answer reports.
  struct Touched {
    std::shared_ptr<Graph> graph;
    std::shared_ptr<Slot> slot;
  };
  struct Request {
    isolation::Op op = isolation::Op::kStart;
    isolation::Reader reader;
    Descriptors descriptors;
  };

  void ServeControl(isolation::Socket& channel);
  core::Status Control(Request& request, isolation::Writer& payload);
  core::Status Prepare(const isolation::Setting& setting);
  core::Status Start(isolation::Reader& request, isolation::Writer& payload);
  struct Buffers;
  void ServeChannel(isolation::Socket& channel);
  bool Receive(isolation::Socket& channel, Buffers& buffers, Request& request) const;
  void Answer(Request& request, Buffers& buffers, isolation::Writer& answer);
  core::Status Serve(Request& request, isolation::Writer& payload, Touched& touched);
  core::Status ServeGraph(Request& request, isolation::Writer& payload, Touched& touched);
  core::Status ServeSlot(Request& request, isolation::Writer& payload, Touched& touched);
  core::Status Load(Request& request, isolation::Writer& payload, Touched& touched);
  static void WriteInfo(const Graph& graph, isolation::Writer& payload);
  static core::Status UseArea(Request& request, Slot& slot);
  core::Status NewSlot(isolation::Reader& request, Touched& touched);
  void Cancel(isolation::Reader& request);

  FrameworkOf& framework_;
  SandboxedFramework sandbox_;
  std::optional<core::Status> prepared_;  // the result of that
  bool serves_ = false;                   // the sandbox is sealed
  Objects<Graph> graphs_;
  Objects<Slot> slots_;
};

}  // namespace wasinn::worker
