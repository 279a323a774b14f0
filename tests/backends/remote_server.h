// A server of the Open Inference Protocol within the test's own process, that answers when the test wants it.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>

#include "support/echo.h"
#include "support/test.h"

namespace wasinn::testing {

// The model "m" at this address.
inline StatusPtr AddModel(const HostPtr& host, const std::string& address, wasinn_model_options options = {}) {
  options.struct_size = sizeof(options);
  options.path = address.c_str();
  return StatusPtr(wasinn_host_add_model(host.get(), "m", &options));
}

// One model, "m": `x` of one f32, which comes back. It needs no thread for requests that it holds.
class InferenceServer {
 public:
  // Requests for inferences are held until there are so many at once; then it answers them, and all that come later.
  // `describes` is false: those for metadata, too.
  explicit InferenceServer(size_t held, bool describes = true);
  ~InferenceServer();
  InferenceServer(const InferenceServer&) = delete;
  InferenceServer& operator=(const InferenceServer&) = delete;

  std::string address() const { return "grpc://127.0.0.1:" + std::to_string(port_) + "/m"; }
  // How many it holds.
  size_t holding() const;

 private:
  class Request;
  class Service final : public grpc::CallbackGenericService {
   public:
    explicit Service(InferenceServer& server) : server_(server) {}
    grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override;

   private:
    InferenceServer& server_;
  };
  void Hold(Request& request);
  void LetGo(Request& request);

  const size_t held_;
  const bool describes_;
  mutable std::mutex mutex_;  // guards the members below
  std::vector<Request*> holding_;
  bool answers_ = false;
  Service service_{*this};
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace wasinn::testing
