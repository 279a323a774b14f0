// The baseline of remote models: only a client, as in a program without wasinn.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace wasinn::bench {

class NativeClient {
 public:
  virtual ~NativeClient() = default;
  // Sends the values, and copies the result into its own memory. Throws if the answer is an error or has another size.
  virtual void Infer() = 0;
};

// `server` is HOST:PORT, and `model` returns its inputs. They connect at the first call, or throw.
std::unique_ptr<NativeClient> ConnectGrpc(const std::string& server, const std::string& model,
                                          const std::vector<float>& values);
std::unique_ptr<NativeClient> ConnectHttp(const std::string& server, const std::string& model,
                                          const std::vector<float>& values);

}  // namespace wasinn::bench
