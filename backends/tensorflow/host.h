// The objects of one wasinn host: TensorFlow and configuration.
#pragma once

#include <wasinn/backend.h>

#include <string_view>

#include "common/bases.h"
#include "tensorflow/config.h"
#include "tensorflow/session.h"
#include "tensorflow/tf_library.h"

namespace wasinn::tensorflow {

class Host : public backend::HostOf<BackendConfig, TfLibrary> {
 public:
  Host(const wasinn_host_services& services, const char* config)
      : HostOf(services, config), has_gpu_(HasGpu(library_, config_.threads)) {
    Describe("TensorFlow", has_gpu_ ? "cpu, gpu (CUDA)" : "cpu");
    if (!library_.opening_log().empty()) log().Write(WASINN_LOG_DEBUG, library_.opening_log());
  }

  bool has_gpu() const { return has_gpu_; }

 private:
  // Asks the first session of this host. The first one of the OS process also makes the pool of threads.
  static bool HasGpu(const TfLibrary& library, int threads) {
    const TfPtr<TF_Status> status = library.NewStatus();
    const TfGraph graph = NewGraph(library);
    const auto options = MakeSessionOptions(library, threads, Device::kGpu);
    TF_Session* raw = library->TF_NewSession(graph.get(), options.get(), status.get());
    library.Check(status.get(), "first session");
    const Session session(library, graph, raw);
    const TfPtr<TF_DeviceList> devices(library->TF_SessionListDevices(raw, status.get()), library->TF_DeleteDeviceList);
    library.Check(status.get(), "devices");
    for (int i = 0; i < library->TF_DeviceListCount(devices.get()); ++i) {
      const char* type = library->TF_DeviceListType(devices.get(), i, status.get());
      if (type != nullptr && std::string_view(type) == "GPU") return true;
    }
    return false;
  }

  const bool has_gpu_;
};

}  // namespace wasinn::tensorflow
