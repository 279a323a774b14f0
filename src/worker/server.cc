#include "worker/server.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "core/isolation/protocol.h"
#include "worker/channel_thread.h"
#include "worker/processor.h"

namespace wasinn::worker {
namespace {

using isolation::Op;
using isolation::Reader;
using isolation::Socket;
using isolation::Writer;

core::Status Unknown(const char* what, uint32_t number) {
  return core::Error(WASINN_ERROR_RUNTIME, "a worker has no {} {}", what, number);
}

// An exception of a framework that passes its backend is an error of the call, and so is a lack of memory.
template <typename Call>
core::Status Guarded(Call&& call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return core::Error(WASINN_ERROR_TOO_LARGE, "out of memory");
  } catch (const std::exception& error) {
    return core::Status(WASINN_ERROR_RUNTIME, error.what());
  }
}

bool LeavesOutputs(const core::Status& status) {
  return status.ok() || status.code() == WASINN_ERROR_CONTEXT_FULL || status.code() == WASINN_ERROR_END_OF_SEQUENCE;
}

core::Status Read(Reader& request, isolation::Setting& setting) {
  setting.Read(request);
  return request.ended() ? core::Status() : core::Error(WASINN_ERROR_RUNTIME, "a worker's settings are cut");
}

core::Result<isolation::Segment> MapArea(Reader& request, std::span<base::Descriptor> descriptors) {
  const auto bytes = request.Number<uint64_t>();
  if (!request.ended() || descriptors.empty()) return core::Fail(WASINN_ERROR_RUNTIME, "there is no segment");
  return isolation::Segment::Map(descriptors[0], bytes, true);
}

core::Status CopyPayload(std::span<base::Descriptor> descriptors, std::span<const uint8_t> payload) {
  if (descriptors.empty()) return core::Error(WASINN_ERROR_RUNTIME, "there is no segment");
  if (payload.empty()) return core::Error(WASINN_ERROR_RUNTIME, "there is nothing to be fetched");
  auto segment = isolation::Segment::Map(descriptors[0], payload.size(), true);
  if (!segment) return std::move(segment.error());
  std::memcpy(segment->data(), payload.data(), payload.size());
  return {};
}

}  // namespace

struct Server::Buffers {
  std::vector<uint8_t> message = std::vector<uint8_t>(isolation::kMaxBytes);
  std::vector<uint8_t> long_request, payload, answer;
  size_t payload_bytes = 0;  // of the last answer, if it was too long for a message
  std::array<base::Descriptor, Socket::kMaxDescriptors> descriptors;
};

// ---- The first channel

void Server::Run(Socket channel) {
  ServeControl(channel);
  // The host is gone, or does not need this worker any more; no one waits for other threads' work.
  ::_exit(0);
}

void Server::ServeControl(Socket& channel) {
  Buffers buffers;
  Request request;
  while (Receive(channel, buffers, request)) {
    if (request.op == Op::kPrepare) {
      prepared_ = Guarded([&] {
        isolation::Setting setting;
        core::Status status = Read(request.reader, setting);
        return status.ok() ? Prepare(setting) : std::move(status);
      });
      continue;
    }
    Writer payload(buffers.payload);
    const core::Status status = Guarded([&] { return Control(request, payload); });
    Writer answer(buffers.answer);
    answer.Number(static_cast<uint32_t>(status.code()));
    answer.Text(status.message());
    if (status.ok()) answer.Bytes(payload.written().data(), payload.written().size());
    if (channel.Send(answer.written()) != Socket::Sent::kDone) return;
  }
}

bool Server::Receive(Socket& channel, Buffers& buffers, Request& request) const {
  for (base::Descriptor& descriptor : buffers.descriptors)
    descriptor = base::Descriptor();  // including those of a long request
  size_t taken = 0;
  const Socket::Received received = channel.Receive(buffers.message, buffers.descriptors, taken);
  if (received.outcome != Socket::Outcome::kMessage || received.bytes > buffers.message.size()) return false;
  request.reader = Reader({buffers.message.data(), received.bytes});
  request.descriptors = Descriptors(buffers.descriptors).first(taken);
  request.op = request.reader.Number<Op>();
  if (request.op != Op::kLong) return true;
  const auto bytes = request.reader.Number<uint64_t>();
  if (taken == 0) return false;
  auto segment = isolation::Segment::Map(request.descriptors[0], bytes, false);
  if (!segment) return false;
  buffers.long_request.assign(segment->data(), segment->data() + bytes);
  request.reader = Reader(buffers.long_request);
  request.descriptors = request.descriptors.subspan(1);
  request.op = request.reader.Number<Op>();
  return true;
}

core::Status Server::Control(Request& request, Writer& payload) {
  if (request.op == Op::kStart) return Start(request.reader, payload);
  if (serves_ && (request.op == Op::kUnload || request.op == Op::kUnshare || request.op == Op::kFreeSlot)) {
    Touched touched;
    return Serve(request, payload, touched);
  }
  if (request.op != Op::kAddChannel || request.descriptors.empty() || !serves_) {
    return core::Error(WASINN_ERROR_RUNTIME, "the first channel does not serve {}", static_cast<uint32_t>(request.op));
  }
  auto channel = std::make_shared<Socket>(std::move(request.descriptors[0]));
  return StartChannelThread([this, channel] { ServeChannel(*channel); });
}

core::Status Server::Prepare(const isolation::Setting& setting) {
  framework_.Use(setting);
  if (!framework_.loaded()) {
    if (core::Status status = framework_.Load(setting); !status.ok()) return status;
  }
  return sandbox_.Prepare();
}

core::Status Server::Start(Reader& request, Writer& payload) {
  isolation::Setting setting;
  if (core::Status status = Read(request, setting); !status.ok()) return status;
  if (!prepared_) prepared_ = Prepare(setting);
  if (!prepared_->ok()) return std::move(*prepared_);
  framework_.Use(setting);
  if (core::Status status = sandbox_.Seal(); !status.ok()) return status;
  core::Result<isolation::Framework> described = framework_.Describe();
  if (!described) return std::move(described.error());
  described->Write(payload);
  serves_ = true;
  return {};
}

// ---- The other channels

void Server::ServeChannel(Socket& channel) {
  const std::chrono::microseconds spin(framework_.setting().spin_us);
  Buffers buffers;
  Request request;
  Processor processor;
  while (Receive(channel, buffers, request)) {
    // A framework's new threads inherit their creator's processors, so only computes are bound to one.
    processor.MoveTo(request.op == Op::kCompute ? request.reader.Number<uint32_t>() : isolation::kAnyProcessor);
    if (request.op == Op::kCancel) {
      Cancel(request.reader);
      continue;
    }
    Writer answer(buffers.answer);
    Answer(request, buffers, answer);
    if (channel.Send(answer.written()) != Socket::Sent::kDone) return;
    channel.SetSpin(spin);  // the next request may come soon; the channel of Cancel sleeps
  }
}

void Server::Answer(Request& request, Buffers& buffers, Writer& answer) {
  Touched touched;
  core::Status status;
  Writer payload(buffers.payload);
  if (request.op == Op::kFetch) {
    status = CopyPayload(request.descriptors, {buffers.payload.data(), buffers.payload_bytes});
  } else {
    status = Guarded([&] { return Serve(request, payload, touched); });
  }
  if (!LeavesOutputs(status)) payload.Clear();  // of an answer that failed midway
  answer.Number(static_cast<uint32_t>(status.code()));
  answer.Number(touched.graph == nullptr ? uint64_t{0} : touched.graph->account.used());
  answer.Number(touched.slot == nullptr ? uint64_t{0} : touched.slot->reserved());
  framework_.log().Write(answer);
  if (!status.ok()) answer.Text(status.message());
  buffers.payload_bytes = payload.used();
  answer.Number(static_cast<uint64_t>(payload.used()));
  if (answer.used() + payload.used() <= isolation::kMaxBytes) answer.Bytes(payload.written().data(), payload.used());
}

core::Status Server::Serve(Request& request, Writer& payload, Touched& touched) {
  switch (request.op) {
    case Op::kLoad:
    case Op::kUnload:
    case Op::kShare:
    case Op::kUnshare:
      return ServeGraph(request, payload, touched);
    case Op::kNewSlot:
      return NewSlot(request.reader, touched);
    default:
      return ServeSlot(request, payload, touched);
  }
}

core::Status Server::ServeGraph(Request& request, Writer& payload, Touched& touched) {
  if (request.op == Op::kLoad) return Load(request, payload, touched);
  const auto number = request.reader.Number<uint32_t>();
  if (request.op == Op::kUnload) {
    graphs_.Remove(number);
    return {};
  }
  const auto segment = request.reader.Number<uint32_t>();
  const auto graph = graphs_.Find(number);
  if (graph == nullptr) return Unknown("model", number);
  if (request.op == Op::kUnshare) {
    graph->shared.Remove(segment);
    return {};
  }
  auto area = MapArea(request.reader, request.descriptors);
  if (!area) return std::move(area.error());
  graph->shared.Add(segment, std::make_shared<isolation::Segment>(std::move(*area)));
  return {};
}

namespace {

struct Parts {
  Parts() = default;
  ~Parts() {
    for (const wasinn_builder* blob : builders) blob->release(blob->owner);
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  core::Status Map(Reader& request, std::span<base::Descriptor> descriptors) {
    const auto count = request.Number<uint32_t>();
    if (count == 0 || count != descriptors.size()) {
      return core::Error(WASINN_ERROR_RUNTIME, "parts of a model are missing");
    }
    for (base::Descriptor& descriptor : descriptors) {
      const auto bytes = request.Number<uint64_t>();
      auto segment = isolation::Segment::Map(descriptor, bytes, false);
      if (!segment) return std::move(segment.error());
      builders.push_back(Part::Make(std::move(*segment), bytes));
    }
    return request.ended() ? core::Status() : core::Error(WASINN_ERROR_RUNTIME, "a load is cut");
  }

  std::vector<const wasinn_builder*> builders;
};

}  // namespace

core::Status Server::Load(Request& request, Writer& payload, Touched& touched) {
  Reader& reader = request.reader;
  const auto number = reader.Number<uint32_t>();
  wasinn_load_options options{};
  options.struct_size = sizeof(options);
  options.target = reader.Number<uint32_t>();
  const std::string format(reader.Text()), host_config(reader.Text()), guest_config(reader.Text());
  options.format = format.c_str();
  options.host_config = host_config.c_str();
  options.guest_config = guest_config.c_str();
  options.cpu_fallback = reader.Number<int32_t>();
  options.max_bytes = reader.Number<uint64_t>();
  Parts parts;
  if (core::Status status = parts.Map(reader, request.descriptors); !status.ok()) return status;

  touched.graph = std::make_shared<Graph>(framework_.backend(), framework_.setting().max_model_bytes);
  Graph& graph = *touched.graph;
  options.token = &graph.gate;
  options.on_cancel = &Gate::Register;
  options.account = &graph.account;
  graphs_.Add(number, touched.graph);  // so that its load can be interrupted
  core::Status status = Guarded([&] {
    core::Status loaded = graph.backend.Take(graph.backend.table().load(graph.backend.state(), parts.builders.data(),
                                                                        parts.builders.size(), &options, &graph.graph));
    if (!loaded.ok()) return loaded;
    const wasinn_info* info = nullptr;
    loaded = graph.backend.Take(graph.backend.table().info(graph.graph, &info));
    if (!loaded.ok()) return loaded;
    graph.info = *info;
    WriteInfo(graph, payload);
    return loaded;
  });
  if (!status.ok()) graphs_.Remove(number);
  return status;
}

void Server::WriteInfo(const Graph& graph, Writer& payload) {
  const wasinn_info& info = graph.info;
  const bool late = info.n_outputs == WASINN_COUNT_UNKNOWN;
  payload.Number(info.max_parallel);
  payload.Number(info.flags);
  payload.Number(static_cast<uint8_t>(late));
  isolation::Ios::Write(payload, {info.inputs, info.n_inputs});
  isolation::Ios::Write(payload, {info.outputs, late ? 0 : info.n_outputs});
  const wasinn_backend& table = graph.backend.table();
  const char* description = table.describe == nullptr ? nullptr : table.describe(graph.graph);
  payload.Text(description == nullptr ? "{}" : description);
}

core::Status Server::NewSlot(Reader& request, Touched& touched) {
  const auto number = request.Number<uint32_t>(), slot_number = request.Number<uint32_t>();
  const auto max_bytes = request.Number<uint64_t>();
  const std::string config(request.Text());
  touched.graph = graphs_.Find(number);
  if (touched.graph == nullptr || !request.ended()) return Unknown("model", number);
  touched.slot = std::make_shared<Slot>(touched.graph, framework_.setting().max_tensor_bytes);
  slots_.Add(slot_number, touched.slot);  // so that its creation can be interrupted
  core::Status status = Guarded([&] { return touched.slot->Open(max_bytes, config); });
  if (!status.ok()) slots_.Remove(slot_number);
  return status;
}

core::Status Server::UseArea(Request& request, Slot& slot) {
  auto area = MapArea(request.reader, request.descriptors);
  if (!area) return std::move(area.error());
  if (request.op == Op::kUseInputArea) return slot.UseInputArea(std::move(*area));
  if (request.op == Op::kUseOutputArea) return slot.UseOutputArea(std::move(*area));
  slot.UsePieceArea(std::move(*area));
  return {};
}

core::Status Server::ServeSlot(Request& request, Writer& payload, Touched& touched) {
  Reader& reader = request.reader;
  const auto number = reader.Number<uint32_t>();
  if (request.op == Op::kFreeSlot) {
    slots_.Remove(number);
    return {};
  }
  touched.slot = slots_.Find(number);
  if (touched.slot == nullptr) return Unknown("context", number);
  Slot& slot = *touched.slot;
  switch (request.op) {
    case Op::kCompute:
      return slot.Compute(reader, payload);
    case Op::kStep:
      return slot.Step(reader, payload);
    case Op::kShow:
      return slot.Show(reader, payload);
    case Op::kPiece:
      return slot.Piece(reader.Number<uint32_t>(), payload);
    case Op::kFinish:
      return slot.Finish();
    case Op::kDiscard:
      slot.Discard();
      return {};
    case Op::kUseInputArea:
    case Op::kUseOutputArea:
    case Op::kUsePieceArea:
      return UseArea(request, slot);
    default:
      return core::Error(WASINN_ERROR_RUNTIME, "a worker does not know {}", static_cast<uint32_t>(request.op));
  }
}

void Server::Cancel(Reader& request) {
  const auto number = request.Number<uint32_t>();
  const auto turn = request.Number<uint64_t>();
  if (const auto slot = slots_.Find(number)) slot->Interrupt(turn);
  if (const auto graph = graphs_.Find(number)) graph->gate.InterruptRegistered();
}

}  // namespace wasinn::worker
