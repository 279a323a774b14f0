// What remote models are measured beside: a client alone, as a program has it that does without wasinn.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace wasinn::bench {

class NativeClient {
 public:
  virtual ~NativeClient() = default;
  // Sends the values, and copies what comes back into memory of its own. Throws where that is an error, or of another size.
  virtual void Infer() = 0;
};

// `server` is HOST:PORT, `model` gives back what it gets. They connect at the first call, or throw.
std::unique_ptr<NativeClient> ConnectGrpc(const std::string& server, const std::string& model,
                                          const std::vector<float>& values);
std::unique_ptr<NativeClient> ConnectHttp(const std::string& server, const std::string& model,
                                          const std::vector<float>& values);

}  // namespace wasinn::bench
