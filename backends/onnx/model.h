// A loaded model.
#pragma once

#include <wasinn/backend.h>

#include <optional>
#include <span>
#include <string>

#include "common/bases.h"
#include "common/reservation.h"
#include "onnx/device_memory.h"
#include "onnx/host.h"
#include "onnx/model_scan.h"
#include "onnx/ort_library.h"
#include "onnx/session_options.h"
#include "onnx/signature.h"

namespace wasinn::onnx {

class KeptModel;

// Immutable; contexts of any thread share its session.
class Model : public backend::ModelBase<Host, Signature> {
 public:
  Model(const Host& host, std::span<const wasinn_builder> builders, const wasinn_load_options& options);
  ~Model() {
    const DeviceTurn turn(takes_turns_);
    session_.reset();
  }

  OrtSession* session() const { return session_.get(); }
  // NULL: it computes in the host's memory.
  const DeviceMemory* device_memory() const { return device_memory_ ? &*device_memory_ : nullptr; }
  // Whether ONNX Runtime copies an input to a device when it is bound: then that is done for each run.
  bool copies_inputs() const { return copies_inputs_; }
  // Whether operations on its device need a DeviceTurn.
  bool takes_turns() const { return takes_turns_; }

 private:
  struct Source;

  explicit Model(const Host& host) : ModelBase(host), session_(nullptr, host.api().ReleaseSession) {}
  void LoadOn(const Providers& providers, const Source& source);
  void MakeAnew(const Providers& providers, const Source& source);
  // False if optimized models of this source are not cached, or it failed: then it is loaded like any other.
  bool LoadKept(const Providers& providers, const Source& source);
  bool LoadFrom(const KeptModel& kept, const Providers& providers, const Source& source);
  bool LoadInto(const KeptModel& kept, const Providers& providers, const Source& source);
  // `bytes`: the source's own, or their optimized form.
  void MakeSession(const Providers& providers, const Source& source, std::span<const uint8_t> bytes,
                   const Origin& origin);
  void ChargeSession(const Source& source, uint64_t held_bytes);
  void MakeDescription();

  backend::Reservation reservation_;  // for the session's memory beyond the model's own bytes; freed after it
  OrtPtr<OrtSession> session_;
  std::optional<DeviceMemory> device_memory_;
  std::string device_;
  bool copies_inputs_ = false, takes_turns_ = false;
  bool was_kept_ = false;  // an earlier load optimized it
};

}  // namespace wasinn::onnx
