// Messages between a host and its workers.
//
//  - The host asks, the worker answers: one packet each, over a channel (a SOCK_SEQPACKET socket), with one call at a
//    time. A worker has a thread for each channel, so calls on several channels run in parallel.
//  - Descriptors only go from the host to the worker: those of new channels, and of segments (memory that both map).
//    The host sends a segment's size with it, because a worker in its sandbox cannot ask for it.
//  - Tensors are in segments, everything else in messages. The host only reads an output's bytes in a segment, and
//    copies them before it uses them.
//  - Objects are numbers, which the host chooses.
//  - A zygote is a process that has opened a framework and never gets a guest's bytes: it forks workers.
//
// Both sides are of one build, so there are no versions.
#pragma once

#include <wasinn/backend.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/tensor_bytes.h"
#include "core/memory/tensor.h"

namespace wasinn::isolation {

// ---- Messages, number by number. A message may come from an attacker: the reader never goes past its end, and after any
// error all further values read as zero.

// The largest packet: the kernel has this much memory for each socket by default. Longer messages go through a segment.
inline constexpr size_t kMaxBytes = 160u << 10;
// The longest of those: the signature of a model with a million inputs.
inline constexpr size_t kMaxLongBytes = 256u << 20;

// Writes into a buffer that grows. Its former content is lost.
class Writer {
 public:
  explicit Writer(std::vector<uint8_t>& buffer) : buffer_(buffer) {}

  template <typename T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void Number(T value) {
    Bytes(&value, sizeof(value));
  }
  // With a NUL behind it, so that it can be used in place.
  void Text(std::string_view text) {
    Number(static_cast<uint32_t>(text.size()));
    Bytes(text.data(), text.size());
    Number('\0');
  }
  void Bytes(const void* data, size_t size) {
    if (size > buffer_.size() - used_) buffer_.resize(std::max(2 * buffer_.size(), used_ + size));
    if (size > 0) std::memcpy(buffer_.data() + used_, data, size);
    used_ += size;
  }
  // Overwrites a number that was written before.
  template <typename T>
  void NumberAt(size_t used, T value) {
    std::memcpy(buffer_.data() + used, &value, sizeof(T));
  }

  void Clear() { used_ = 0; }

  size_t used() const { return used_; }
  std::span<const uint8_t> written() const { return {buffer_.data(), used_}; }

 private:
  std::vector<uint8_t>& buffer_;
  size_t used_ = 0;
};

class Reader {
 public:
  Reader() = default;
  explicit Reader(std::span<const uint8_t> message) : left_(message) {}

  template <typename T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  T Number() {
    T value{};
    if (const uint8_t* data = Take(sizeof(T))) std::memcpy(&value, data, sizeof(T));
    return value;
  }
  // The text is inside of the message, with a NUL behind it.
  std::string_view Text() {
    const size_t size = Number<uint32_t>();
    const uint8_t* data = Take(size + 1);
    if (data != nullptr && data[size] != 0) ok_ = false;
    return ok_ ? std::string_view(reinterpret_cast<const char*>(data), size) : std::string_view("");
  }
  // Bytes in place; NULL if there are too few.
  const uint8_t* Take(size_t size) {
    if (!ok_ || size > left_.size()) {
      ok_ = false;
      return nullptr;
    }
    const uint8_t* data = left_.data();
    left_ = left_.subspan(size);
    return data;
  }

  size_t left() const { return left_.size(); }
  bool ok() const { return ok_; }
  // The whole message was valid, and nothing is left.
  bool ended() const { return ok_ && left_.empty(); }

 private:
  std::span<const uint8_t> left_;
  bool ok_ = true;
};

// ---- Operations and their arguments

// The descriptor of a worker's first channel, and of a zygote's only one.
inline constexpr int kFirstDescriptor = 3;

enum class Op : uint32_t {
  // For zygotes.
  kOpen = 1,  // Setting -> Framework
  kSpawn,     // with a channel: -> pid of a worker that serves it, and a descriptor of its process
  kWait,      // pid -> its wait status, once it has ended
  // For workers. The first channel serves the beginning, kAddChannel, and kUnload, kUnshare and kFreeSlot if there is
  // no other channel.
  kPrepare,        // Setting: the parts of kStart without guests' limits, ahead of time; no answer
  kStart,          // Setting -> Framework; the sandbox is on from here on
  kAddChannel,     // with a channel
  kLoad,           // graph, LoadOptions, with a segment for each blob -> Info
  kUnload,         // graph
  kShare,          // graph, segment, bytes, with its descriptor: memory for inputs
  kUnshare,        // graph, segment
  kNewSlot,        // graph, slot, SlotOptions
  kFreeSlot,       // slot
  kUseInputArea,   // slot, bytes, with its segment: new memory for its inputs
  kUseOutputArea,  // the same for outputs
  kUsePieceArea,   // the same for pieces of generations
  kCompute,        // processor, slot, Bindings, ComputeOptions -> flags, Outputs
  kStep,           // slot, Bindings -> Outputs
  kPiece,          // slot, index -> Output
  kFinish,         // slot
  kDiscard,        // slot
  kShow,           // slot, whether it is reset before -> Outputs: of the last compute, or those that exist before one
  kCancel,         // slot, number of the compute: no answer
  // For all channels except the first.
  kLong,  // bytes, with a segment that has the request, and descriptors of the request
  kFetch  // with a segment, for the payload of the last answer, which was too long
};

// The settings for opening a framework.
struct Setting {
  std::string worker;   // the program's absolute path
  std::string backend;  // its name, for messages
  std::string library;  // the backend's file
  std::string config = "{}";
  std::string owner;         // the worker's owner, for the host's log; not sent to workers
  bool has_devices = false;  // it may use this machine's GPUs, in a weaker sandbox
  uint32_t threads = 1;
  uint32_t log_level = WASINN_LOG_WARNING;
  uint32_t spin_us = 0;                   // how long each side polls for the other's message before it sleeps
  std::string cgroup;                     // the folder of a control group that zygotes and their workers join
  std::vector<std::string> op_libraries;  // a worker opens them after its framework, and before any model comes
  // Memory that a worker may allocate in addition to its framework.
  uint64_t max_model_bytes = 0, max_tensor_bytes = 0;

  void Write(Writer& writer) const;
  void Read(Reader& reader);
};

struct Framework {
  std::string name, version, library, devices;

  void Write(Writer& writer) const;
  bool Read(Reader& reader);
};

// The beginning of each answer.
struct Answer {
  uint32_t code = WASINN_OK;
  std::string_view message;
  // Bytes that the backend has reserved so far for the graph and the slot of the call.
  uint64_t graph_reserved = 0, slot_reserved = 0;
  // Bytes of the rest: in the message, or to be fetched if it is too long for one.
  uint64_t payload = 0;
};

// The code in a worker's answer. A worker that answers cannot report that it is lost.
constexpr wasinn_code CodeOf(uint32_t code) {
  return code < WASINN_ERROR_UNAVAILABLE ? static_cast<wasinn_code>(code) : WASINN_ERROR_RUNTIME;
}

struct TensorDesc : core::TensorDesc {
  uint64_t bytes = 0;
};

// The offset of an input or output without a place in its area.
inline constexpr uint64_t kNowhere = UINT64_MAX;
// The system chooses the processor; else the number of the best processor for the channel's thread from now on.
inline constexpr uint32_t kAnyProcessor = UINT32_MAX;
// The number of the slot's own area, instead of a segment's.
inline constexpr uint32_t kArea = 0;

void WriteDesc(Writer& writer, uint32_t dtype, std::span<const int64_t> dims, uint64_t bytes);
void WriteComputeOptions(Writer& writer, const wasinn_compute_options& options);
// If a rank is too large, the reader's whole message is invalid.
bool ReadDesc(Reader& reader, TensorDesc& desc);

// Inputs or outputs of a model, with everything that they point to.
class Ios {
 public:
  Ios() = default;
  Ios(const Ios&) = delete;
  Ios& operator=(const Ios&) = delete;

  // False: they are invalid. Flags outside of `flags` are dropped. Names stay in the message, which must outlive this.
  // Besides, this needs about as much memory as the message, and several times more for short names.
  bool Read(Reader& reader, uint32_t flags);
  static void Write(Writer& writer, std::span<const wasinn_io* const> ios);
  std::span<const wasinn_io* const> all() const { return pointers_; }

 private:
  bool ReadOne(Reader& reader, uint32_t flags, wasinn_io& io);

  std::vector<wasinn_io> ios_;
  std::deque<std::array<int64_t, 4>> few_dims_;  // elements never move
  std::deque<std::vector<int64_t>> more_dims_;
  std::vector<const wasinn_io*> pointers_;
};

// Tensors in segments are aligned as backends want them.
using base::RoundUp;

}  // namespace wasinn::isolation
