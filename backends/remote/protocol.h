// How servers are asked, and their answers read.
#pragma once

#include <google/protobuf/message_lite.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "common/log.h"
#include "remote/config.h"
#include "remote/exchange.h"
#include "remote/tensors.h"

namespace wasinn::remote {

class LanguageSettings;

// A request that is not yet written. The inputs must not change until it is.
struct Inference {
  uint64_t bytes;                  // of the whole body, which `write` allocates
  std::function<Request()> write;  // called once
};

// The protocol of one model. Thread-safe after AskMetadata.
class Protocol {
 public:
  // Asks a server, and returns its answer; throws if that is an error.
  using Ask = std::function<Reply(Request)>;

  virtual ~Protocol() = default;
  // Gets the servers' metadata of the model. Called once, before anything else.
  virtual Metadata AskMetadata(const Ask& ask) = 0;
  // A guest's settings, for a context; NULL: the protocol has none. Throws WASINN_ERROR_INVALID_ARGUMENT for keys that
  // the model's guests do not have.
  virtual std::shared_ptr<const LanguageSettings> Configure(const char* guest_config) const;
  // `settings`: from Configure.
  virtual Inference Infer(const LanguageSettings* settings, const Inputs& inputs, const Outputs& outputs) const = 0;
  // The memory for a successful answer and for reading it, without the outputs.
  virtual uint64_t MemoryToRead(const Reply& reply) const { return reply.message.Length(); }
  // Throws WASINN_ERROR_RUNTIME if invalid or with more than `most` outputs. The result may refer to the reply.
  virtual std::vector<AnsweredTensor> ReadAnswer(const Reply& reply, size_t most) const = 0;
  // For a reply that is an error.
  virtual backend::Error ErrorOf(const Reply& reply) const;
  // Whether contexts can generate step by step.
  virtual bool generates() const { return false; }
  virtual Request AskReady() const = 0;
  // For a successful reply.
  virtual bool IsReady(const Reply& reply) const = 0;
};

// The Open Inference Protocol over gRPC, and over HTTP.
std::unique_ptr<Protocol> NewOipGrpc(Address address);
std::unique_ptr<Protocol> NewOipHttp(Address address);
// OpenAI's API. Guests see the same inputs and outputs as with the backend llama. `host_config`: the model's
// configuration.
std::unique_ptr<Protocol> NewOpenAi(const Address& address, const char* host_config, const backend::Log& log);

// An inference as JSON, followed by raw bytes if the server accepts them. `outputs`: the names of the wanted ones;
// empty: all. `is_binary`: uses raw bytes in both directions.
Inference AskInJson(std::string path, const Inputs& inputs, std::span<const std::string> outputs, bool is_binary);
// A request for a completion or embeddings. `base`: "/v1". Throws WASINN_ERROR_INVALID_ARGUMENT for a prompt that a
// server must not get.
Inference AskForText(const std::string& base, std::string_view model, const LanguageSettings& settings,
                     std::string_view prompt);

// Messages of gRPC.
grpc::ByteBuffer ToBuffer(const google::protobuf::MessageLite& message);
// Returns false if it is not such a message.
bool ParseMessage(const grpc::ByteBuffer& bytes, google::protobuf::MessageLite* message);

}  // namespace wasinn::remote
