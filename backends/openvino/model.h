// A loaded model.
#ifndef WASINN_BACKENDS_OPENVINO_MODEL_H_
#define WASINN_BACKENDS_OPENVINO_MODEL_H_

#include <wasinn/backend.h>

#include <memory>
#include <span>
#include <string>

#include "openvino/host.h"
#include "openvino/signature.h"
#include "openvino/source.h"

namespace wasinn::openvino {

// Immutable; contexts of any thread share what was compiled.
class Model {
 public:
  Model(const Host& host, std::span<const wasinn_blob> blobs, const wasinn_load_options& options);
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const Host& host() const { return host_; }
  ov_compiled_model_t* compiled() const { return compiled_.get(); }
  const Signature& signature() const { return *signature_; }
  const wasinn_info* info() const { return signature_->info(); }
  const char* Describe() const { return description_.c_str(); }

 private:
  void CompileOnTarget(const ov_model_t* model, const ModelConfig& config, const wasinn_load_options& options);
  void CompileOn(const std::string& device, const ov_model_t* model, const ModelConfig& config);
  std::string Property(const char* key) const;
  void MakeDescription();

  const Host& host_;
  Weights weights_;  // behind `compiled_`, which reads them, in the order of destruction
  OvPtr<ov_compiled_model_t> compiled_;
  std::unique_ptr<const Signature> signature_;
  std::string description_;
};

}  // namespace wasinn::openvino

#endif  // WASINN_BACKENDS_OPENVINO_MODEL_H_
