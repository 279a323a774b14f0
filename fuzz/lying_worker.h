// A worker that has been taken over, on a thread: it answers what a host asks, and the input says where it lies.
#pragma once

#include <cstdint>
#include <filesystem>
#include <list>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/isolation/protocol.h"
#include "core/isolation/segment.h"
#include "core/isolation/socket.h"
#include "fuzz/choices.h"

namespace wasinn::fuzz {

// A model that does not lie has one input and one output "x" of three floats, and this is what each compute gives.
inline constexpr int64_t kHonestSize = 3;
inline constexpr float kHonestOutput[kHonestSize] = {1.5f, -2, 0.25f};

// Every worker that a host has, one after the other. It is never destroyed: its thread lasts as long as the process.
class LyingWorker {
 public:
  // In `folder` is channel_forwarder, which connects here when a host starts it.
  explicit LyingWorker(const std::filesystem::path& folder);

  // Where the workers lie from now on. At the end of the input they say the truth.
  void Use(std::span<const uint8_t> lies);

 private:
  struct Channel {
    isolation::Socket socket;
    bool is_first = false;
  };
  struct Request {
    isolation::Op op{};
    isolation::Reader reader;
    std::span<base::Descriptor> descriptors;
  };

  void Serve();
  // These return false when the channel is to be closed.
  bool ServeOne(Channel& channel);
  bool AnswerFirst(Channel& channel, Request& request);
  bool AnswerOther(Channel& channel, Request& request);
  bool Send(Channel& channel, std::span<const uint8_t> answer);

  void KeepArea(Request& request);
  void WritePayload(isolation::Op op, isolation::Writer& payload);
  void TellModel(isolation::Writer& payload);
  void TellIos(isolation::Writer& payload, uint32_t count);
  void TellOutputs(isolation::Writer& payload);
  void TellOutput(isolation::Writer& payload);
  void TellHead(isolation::Writer& answer);
  void TellText(isolation::Writer& writer, std::string_view truth);
  // Into memory that the host may be reading.
  void Scribble();

  bool Lies() { return lies_.Index(16) == 15; }
  // The truth, or a number that is likely to hurt.
  template <typename T>
  T Or(T truth);

  std::mutex mutex_;  // of what follows
  std::vector<uint8_t> input_;
  Choices lies_{{}};
  uint32_t outputs_ = 1;  // of the newest model
  bool late_ = false;
  std::map<isolation::Op, isolation::Segment> areas_;  // the newest that the host gave by each

  // Of the thread.
  base::Descriptor listening_;
  isolation::Socket forwarder_;
  std::list<Channel> channels_;
  std::vector<uint8_t> message_, answer_, payload_;
  std::vector<base::Descriptor> descriptors_;
  std::thread thread_;
};

}  // namespace wasinn::fuzz
