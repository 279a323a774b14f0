// What a host asks of its workers and what they answer.
//
//  - The host asks, the worker answers: one packet each, over a channel (a SOCK_SEQPACKET socket), where one call is under
//    way at a time. A worker has a thread for each channel, so calls on several channels run in parallel.
//  - Descriptors go from the host to the worker alone: of new channels, and of segments, which are memory that both map. A
//    segment is as large as the host says with it: in its sandbox a worker cannot ask.
//  - Tensors lie in segments, everything else in messages. The host reads of a segment nothing but an output's bytes,
//    which it copies before anybody looks at them.
//  - Objects are numbers, which the host gives.
//  - A zygote is a process that has opened a framework and that nobody's bytes reach: it makes workers.
//
// Both sides are of one build, so there are no versions.
#pragma once

#include <wasinn/backend.h>

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "core/isolation/message.h"

namespace wasinn::isolation {

// Of a worker's first channel, and of a zygote's only one.
inline constexpr int kFirstDescriptor = 3;

enum class Op : uint32_t {
  // Of zygotes.
  kOpen = 1,  // Setting -> Framework
  kSpawn,     // with a channel: -> pid of a worker that serves it, and a descriptor of the process
  kWait,      // pid -> its wait status, once it has ended
  // Of workers. The first channel serves what begins, kAddChannel, and kUnload, kUnshare and kFreeSlot for who finds no other.
  kPrepare,        // Setting: what of kStart needs no guest's limits, before anybody waits for it; no answer
  kStart,          // Setting -> Framework; the sandbox holds from here on
  kAddChannel,     // with a channel
  kLoad,           // graph, LoadOptions, with a segment for each blob -> Info
  kUnload,         // graph
  kShare,          // graph, segment, bytes, with its descriptor: memory for inputs
  kUnshare,        // graph, segment
  kNewSlot,        // graph, slot, SlotOptions
  kFreeSlot,       // slot
  kUseInputArea,   // slot, bytes, with its segment: where its inputs lie from now on
  kUseOutputArea,  // likewise
  kUsePieceArea,   // likewise, for pieces of generations
  kCompute,        // processor, slot, Bindings, ComputeOptions -> flags, Outputs
  kStep,           // slot, Bindings -> Outputs
  kPiece,          // slot, index -> Output
  kFinish,         // slot
  kDiscard,        // slot
  kShow,    // slot, whether it is reset before -> Outputs: those of the last compute, or what there is before one
  kCancel,  // slot, number of the compute: no answer
  // Of any channel but the first.
  kLong,  // bytes, with a segment that has the request, and descriptors that belong to that
  kFetch  // with a segment, for the payload of the last answer, which was too long
};

// What a framework is opened with.
struct Setting {
  std::string worker;   // the program's absolute path
  std::string backend;  // its name, for messages
  std::string library;  // of the backend
  std::string config = "{}";
  std::string owner;         // whose worker it is, for the host's log; workers are not told
  bool has_devices = false;  // it may use this machine's GPUs, in a weaker sandbox
  uint32_t threads = 1;
  uint32_t log_level = WASINN_LOG_WARNING;
  uint32_t spin_us = 0;  // how long each side looks for the other's message before it sleeps
  std::string cgroup;    // the folder of a control group that zygotes join, and so their workers
  // That a worker may allocate beyond what its framework has.
  uint64_t max_model_bytes = 0, max_tensor_bytes = 0;

  void Write(Writer& writer) const;
  void Read(Reader& reader);
};

struct Framework {
  std::string name, version, library, devices;

  void Write(Writer& writer) const;
  bool Read(Reader& reader);
};

// Each answer begins with it.
struct Answer {
  uint32_t code = WASINN_OK;
  std::string_view message;
  // What the backend has reserved for the graph and the slot of the call, all told.
  uint64_t graph_reserved = 0, slot_reserved = 0;
  // Of what follows: in the message, or, if it is too long for one, to be fetched.
  uint64_t payload = 0;
};

// A code that a worker tells. That it is lost, one that answers does not say.
constexpr wasinn_code CodeOf(uint32_t code) {
  return code < WASINN_ERROR_UNAVAILABLE ? static_cast<wasinn_code>(code) : WASINN_ERROR_RUNTIME;
}

struct TensorDesc {
  uint32_t dtype = WASINN_DTYPE_UNKNOWN;
  uint32_t rank = 0;
  std::array<int64_t, WASINN_MAX_RANK> dims;
  uint64_t bytes = 0;

  std::span<const int64_t> shape() const { return {dims.data(), rank}; }
};

// Where an input lies in its area; the same for an output.
inline constexpr uint64_t kNowhere = UINT64_MAX;
// Wherever the system has the thread of the channel run; else the number of the processor where it had best run from now on.
inline constexpr uint32_t kAnyProcessor = UINT32_MAX;
// The segment of an input that lies in its slot's area.
inline constexpr uint32_t kArea = 0;

void WriteDesc(Writer& writer, uint32_t dtype, std::span<const int64_t> dims, uint64_t bytes);
void WriteComputeOptions(Writer& writer, const wasinn_compute_options& options);
// A rank that is too large makes the reader's whole message bad.
bool ReadDesc(Reader& reader, TensorDesc& desc);

// Inputs or outputs of a model, with all that they point to.
class Ios {
 public:
  Ios() = default;
  Ios(const Ios&) = delete;
  Ios& operator=(const Ios&) = delete;

  // False: they are not as they must be. Flags that are not among `flags` are left out. Names stay in the message, which
  // must outlive this; beside it as much is held as it has, and some times more for short names.
  bool Read(Reader& reader, uint32_t flags);
  static void Write(Writer& writer, std::span<const wasinn_io* const> ios);
  std::span<const wasinn_io* const> all() const { return pointers_; }

 private:
  bool ReadOne(Reader& reader, uint32_t flags, wasinn_io& io);

  std::vector<wasinn_io> ios_;
  std::deque<std::array<int64_t, 4>> few_dims_;  // none moves
  std::deque<std::vector<int64_t>> more_dims_;
  std::vector<const wasinn_io*> pointers_;
};

// Memory of segments is laid out as backends want tensors.
constexpr uint64_t RoundUp(uint64_t bytes) {
  return (bytes + WASINN_TENSOR_TAIL + WASINN_TENSOR_ALIGNMENT - 1) / WASINN_TENSOR_ALIGNMENT * WASINN_TENSOR_ALIGNMENT;
}

}  // namespace wasinn::isolation
