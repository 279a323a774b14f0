// An inference as JSON, followed by raw bytes if the server accepts them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "remote/inputs.h"
#include "remote/protocol.h"

namespace wasinn::remote {

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

}  // namespace wasinn::remote
