// The Open Inference Protocol over HTTP.
#pragma once

#include <string>

#include "remote/protocol.h"

namespace wasinn::remote {

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
