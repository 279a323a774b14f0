// How servers are asked, and how their answers are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "common/error.h"
#include "common/log.h"
#include "remote/address.h"
#include "remote/answer.h"
#include "remote/exchange.h"
#include "remote/inputs.h"
#include "remote/metadata.h"
#include "remote/outputs.h"

namespace wasinn::remote {

// A request for an inference that is to be written. The inputs stay as they are until then.
class Inference {
 public:
  virtual ~Inference() = default;
  // Of the whole body, which Write allocates.
  virtual uint64_t bytes() const = 0;
  virtual Request Write() const = 0;
};

// What a guest has asked for of the models of a protocol that lets it.
class GuestSettings {
 public:
  virtual ~GuestSettings() = default;
};

// Of one model. Any thread, once the metadata are there.
class Protocol {
 public:
  // Asks a server, and returns what it answers if that is no error.
  using Ask = std::function<Reply(Request)>;

  virtual ~Protocol() = default;
  // What servers tell of the model. Once, before anything else.
  virtual Metadata AskMetadata(const Ask& ask) = 0;
  // Of a context. WASINN_ERROR_INVALID_ARGUMENT for keys that the model's guests have none of.
  virtual std::unique_ptr<const GuestSettings> Configure(const char* guest_config) const;
  // `settings`: of Configure.
  virtual std::unique_ptr<const Inference> Infer(const GuestSettings* settings, const Inputs& inputs,
                                                 const Outputs& outputs) const = 0;
  // Of an answer that is no error: what it and the work of reading it take, beside what becomes of it.
  virtual uint64_t MemoryToRead(const Reply& reply) const { return reply.message.Length(); }
  // WASINN_ERROR_RUNTIME for what is no answer, or tells more than `most` outputs. What it returns may refer to the reply.
  virtual std::vector<AnsweredTensor> ReadAnswer(const Reply& reply, size_t most) const = 0;
  // Of a reply that is an error.
  virtual backend::Error ErrorOf(const Reply& reply) const;
  // Whether contexts may generate step by step.
  virtual bool generates() const { return false; }
  virtual Request AskReady() const = 0;
  // Of a reply that is no error.
  virtual bool IsReady(const Reply& reply) const = 0;
};

// `host_config`: the model's.
std::unique_ptr<Protocol> MakeProtocol(const Address& address, const char* host_config, const backend::Log& log);

}  // namespace wasinn::remote
