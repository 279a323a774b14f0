// A worker that has been taken over, on a thread: it answers a host's requests, and the input decides where it lies.
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

// A model that does not lie has one input and one output "x" of three floats, and each compute returns these.
inline constexpr int64_t kHonestSize = 3;
inline constexpr float kHonestOutput[kHonestSize] = {1.5f, -2, 0.25f};

// All workers of a host, one after the other. It is never destroyed: its thread lasts as long as the process.
class LyingWorker {
 public:
  // `folder` has channel_forwarder, which connects here when a host starts it.
  explicit LyingWorker(const std::filesystem::path& folder);

  // The input for the lies from now on. At its end the workers say the truth.
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
  // These return false if the channel has to be closed.
  bool ServeOne(Channel& channel);
  bool AnswerFirst(Channel& channel, Request& request);
  bool AnswerOther(Channel& channel, Request& request);
  bool Send(Channel& channel, std::span<const uint8_t> answer);

  void KeepArea(Request& request);
  void WritePayload(isolation::Op op, isolation::Writer& payload);
  void WriteModel(isolation::Writer& payload);
  void WriteIos(isolation::Writer& payload, uint32_t count);
  void WriteOutputs(isolation::Writer& payload);
  void WriteOutput(isolation::Writer& payload);
  void WriteHead(isolation::Writer& answer);
  void WriteText(isolation::Writer& writer, std::string_view truth);
  // Writes into memory that the host may be reading.
  void Scribble();

  bool Lies() { return lies_.Index(16) == 15; }
  // The truth, or a number that is likely to do harm.
  template <typename T>
  T Or(T truth);

  std::mutex mutex_;  // guards the members below
  std::vector<uint8_t> input_;
  Choices lies_{{}};
  uint32_t outputs_ = 1;  // of the newest model
  bool late_ = false;
  std::map<isolation::Op, isolation::Segment> areas_;  // the newest that the host sent, by each

  // Only used by the thread.
  base::Descriptor listening_;
  isolation::Socket forwarder_;
  std::list<Channel> channels_;
  std::vector<uint8_t> message_, answer_, payload_;
  std::vector<base::Descriptor> descriptors_;
  std::thread thread_;
};

}  // namespace wasinn::fuzz
