// A loaded model.
#pragma once

#include <wasinn/backend.h>

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "common/reservation.h"
#include "onnx/device_memory.h"
#include "onnx/host.h"
#include "onnx/kept_model.h"
#include "onnx/model_scan.h"
#include "onnx/ort_library.h"
#include "onnx/session_options.h"
#include "onnx/signature.h"

namespace wasinn::onnx {

// Immutable; contexts of any thread share its session.
class Model {
 public:
  Model(const Host& host, std::span<const wasinn_builder> builders, const wasinn_load_options& options);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const Host& host() const { return host_; }
  OrtSession* session() const { return session_.get(); }
  const Signature& signature() const { return *signature_; }
  const wasinn_info* info() const { return signature_->info(); }
  const char* Describe() const { return description_.c_str(); }
  // NULL: it computes in the host's.
  const DeviceMemory* device_memory() const { return device_memory_ ? &*device_memory_ : nullptr; }
  // Whether ONNX Runtime copies an input to a device when it is put into a binding: so that is done for each run.
  bool copies_inputs() const { return copies_inputs_; }
  // Whether what concerns its device needs a DeviceTurn.
  bool takes_turns() const { return takes_turns_; }

 private:
  struct Source;

  explicit Model(const Host& host) : host_(host), session_(nullptr, host.api().ReleaseSession) {}
  void LoadOn(const Providers& providers, const Source& source);
  void MakeAnew(const Providers& providers, const Source& source);
  // False where optimized models of this source are not kept, or it did not work: then it is loaded as any other.
  bool LoadKept(const Providers& providers, const Source& source);
  bool LoadFrom(const KeptModel& kept, const Providers& providers, const Source& source);
  bool LoadInto(const KeptModel& kept, const Providers& providers, const Source& source);
  // `bytes`: the source's own, or what was made of them.
  void MakeSession(const Providers& providers, const Source& source, std::span<const uint8_t> bytes,
                   const Origin& origin);
  void ChargeSession(const Source& source, uint64_t held_bytes);
  void MakeDescription();

  const Host& host_;
  backend::Reservation reservation_;  // of what the session has beyond the model's own bytes; goes after it
  OrtPtr<OrtSession> session_;
  std::unique_ptr<const Signature> signature_;
  std::optional<DeviceMemory> device_memory_;
  std::string device_, description_;
  bool copies_inputs_ = false, takes_turns_ = false;
  bool was_kept_ = false;  // its optimization was another load's
};

}  // namespace wasinn::onnx
