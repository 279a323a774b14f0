// What one wasinn host has opened: TensorFlow and configuration.
#pragma once

#include <wasinn/backend.h>

#include "common/host_base.h"
#include "tensorflow/config.h"
#include "tensorflow/tf_library.h"

namespace wasinn::tensorflow {

class Host : public backend::HostBase {
 public:
  Host(const wasinn_host_services& services, const char* config);

  const BackendConfig& config() const { return config_; }
  const TfLibrary& library() const { return library_; }
  bool has_gpu() const { return has_gpu_; }

 private:
  const BackendConfig config_;
  const TfLibrary library_;
  const bool has_gpu_;
};

}  // namespace wasinn::tensorflow
