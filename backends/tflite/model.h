// A loaded model.
#pragma once

#include <wasinn/backend.h>

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "common/model_bytes.h"
#include "tflite/config.h"
#include "tflite/delegates.h"
#include "tflite/host.h"
#include "tflite/interpreter.h"
#include "tflite/model_scan.h"
#include "tflite/session.h"
#include "tflite/signature.h"

namespace wasinn::tflite {

// Immutable except for its idle sessions. Thread-safe.
class Model : public backend::ModelBase<Host, Signature> {
 public:
  Model(const Host& host, std::span<const wasinn_builder> builders, const wasinn_load_options& options);

  const ModelConfig& config() const { return config_; }
  // The most threads of one compute. 1 if an interpreter has a state: then no other one can continue for it.
  int threads() const { return has_state() ? 1 : config_.threads; }
  // A run leaves data behind for the context's next one.
  bool has_state() const { return scan_.keeps_state || scan_.has_variables; }
  const ModelScan& scan() const { return scan_; }

  // A session of a freed context, or a new one.
  std::unique_ptr<Session> TakeSession(int threads) const {
    if (std::unique_ptr<Session> session = idle_.Take(threads)) return session;
    return std::make_unique<Session>(*signature_, NewInterpreter(threads));
  }
  void GiveSession(std::unique_ptr<Session> session) const noexcept;
  std::unique_ptr<Interpreter> NewInterpreter(int threads) const;
  // About the memory that an interpreter keeps as long as it lives; and that of one that has not computed yet.
  uint64_t LastingBytes(const Interpreter& interpreter) const;
  uint64_t lasting_bytes() const { return lasting_bytes_; }
  // Throws if the model's kernels cannot take inputs of these shapes; none: those in the file. Returns the memory that
  // TensorFlow Lite's own kernels would need; 0: no check was necessary.
  uint64_t CheckShapesFor(const std::vector<std::vector<int>>& dims) const;

 private:
  void LoadOn(const std::vector<DelegateConfig>& delegates);
  // `prepared`: whether it works with the shapes in the file. A model with open shapes need not.
  std::unique_ptr<Interpreter> TryInterpreter(int threads, const Xnnpack* xnnpack, bool* prepared) const;
  void ChooseSignature(Trust trust);
  void PackWeights() const;
  // Warns of effects that a guest's inputs may have on a model that the host named, and so on the host's process.
  void WarnOfInputs(const Interpreter& interpreter) const;
  void WriteDescription();

  backend::KeptBytes bytes_;  // TensorFlow Lite points to them
  Messages messages_;
  ModelConfig config_;
  const bool named_;  // by the host, which shares it among guests
  std::unique_ptr<TfLiteModel, void (*)(TfLiteModel*)> model_;
  ModelScan scan_;
  std::vector<DelegateLibrary> delegates_;
  std::vector<OpLibrary> op_libraries_;
  mutable std::mutex making_;  // one interpreter at a time: they share XNNPACK's weights
  mutable std::unique_ptr<Xnnpack> xnnpack_;
  mutable bool uses_xnnpack_ = false;
  std::string devices_;
  uint64_t lasting_bytes_ = 0;
  mutable IdleSessions idle_;
};

}  // namespace wasinn::tflite
