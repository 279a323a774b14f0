// How servers are asked, and their answers read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "common/error.h"
#include "common/log.h"
#include "remote/answer.h"
#include "remote/exchange.h"
#include "remote/tensors.h"

namespace wasinn::remote {

// A request that is not yet written. The inputs must not change until it is.
class Inference {
 public:
  virtual ~Inference() = default;
  // The size of the whole body, which Write allocates.
  virtual uint64_t bytes() const = 0;
  virtual Request Write() const = 0;
};

// A guest's settings for a model, if the protocol has any.
class GuestSettings {
 public:
  virtual ~GuestSettings() = default;
};

// The protocol of one model. Thread-safe after AskMetadata.
class Protocol {
 public:
  // Asks a server, and returns its answer; throws if that is an error.
  using Ask = std::function<Reply(Request)>;

  virtual ~Protocol() = default;
  // Gets the servers' metadata of the model. Called once, before anything else.
  virtual Metadata AskMetadata(const Ask& ask) = 0;
  // For a context. Throws WASINN_ERROR_INVALID_ARGUMENT for keys that the model's guests do not have.
  virtual std::unique_ptr<const GuestSettings> Configure(const char* guest_config) const;
  // `settings`: from Configure.
  virtual std::unique_ptr<const Inference> Infer(const GuestSettings* settings, const Inputs& inputs,
                                                 const Outputs& outputs) const = 0;
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

}  // namespace wasinn::remote
