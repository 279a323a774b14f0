// The Open Inference Protocol, over gRPC and over HTTP.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>

#include "remote/address.h"
#include "remote/protocol.h"
#include "remote/tensors.h"

namespace wasinn::remote {

class OipGrpc final : public Protocol {
 public:
  explicit OipGrpc(Address address) : address_(std::move(address)) {}

  Metadata AskMetadata(const Ask& ask) override;
  std::unique_ptr<const Inference> Infer(const GuestSettings* settings, const Inputs& inputs,
                                         const Outputs& outputs) const override;
  std::vector<AnsweredTensor> ReadAnswer(const Reply& reply, size_t most) const override;
  Request AskReady() const override;
  bool IsReady(const Reply& reply) const override;

 private:
  const Address address_;
};

// Messages of gRPC.
grpc::ByteBuffer ToBuffer(const google::protobuf::MessageLite& message);
// Returns false if it is not such a message.
bool ParseMessage(const grpc::ByteBuffer& bytes, google::protobuf::MessageLite* message);

// The size of an input as raw bytes.
uint64_t RawBytes(const Inputs::Input& input);

// An inference as JSON, followed by raw bytes if the server accepts them.
class JsonInference final : public Inference {
 public:
  // `outputs`: the names of the wanted ones; empty: all. `is_binary`: uses raw bytes in both directions.
  JsonInference(std::string path, const Inputs& inputs, std::span<const std::string> outputs, bool is_binary);

  uint64_t bytes() const override { return bytes_; }
  Request Write() const override;

 private:
  // Text, followed by an input.
  struct Part {
    std::string text;
    const Inputs::Input* input = nullptr;
  };

  void WriteInput(const Inputs::Input& input, class JsonSink& sink) const;

  const std::string path_;
  const bool is_binary_;
  std::vector<Part> parts_;
  uint64_t head_ = 0, bytes_ = 0;
};

class OipHttp final : public Protocol {
 public:
  // "/v2/models/MODEL"
  explicit OipHttp(std::string path) : path_(std::move(path)) {}

  // Also learns whether servers accept raw bytes.
  Metadata AskMetadata(const Ask& ask) override;
  std::unique_ptr<const Inference> Infer(const GuestSettings* settings, const Inputs& inputs,
                                         const Outputs& outputs) const override;
  std::vector<AnsweredTensor> ReadAnswer(const Reply& reply, size_t most) const override;
  Request AskReady() const override { return {.path = path_ + "/ready", .has_body = false}; }
  bool IsReady(const Reply& reply) const override;

 private:
  const std::string path_;
  bool is_binary_ = false;
};

}  // namespace wasinn::remote
