// One thread at a time, for devices whose provider cannot have more.
#ifndef WASINN_BACKENDS_ONNX_DEVICE_TURN_H_
#define WASINN_BACKENDS_ONNX_DEVICE_TURN_H_

#include <mutex>

namespace wasinn::onnx {

// All sessions with WebGPU record into one device of the OS process, and ONNX Runtime keeps their threads apart in
// nothing but the runs of one session: not when it copies an input there, nor when it frees what lies there. It crashes.
class DeviceTurn {
 public:
  explicit DeviceTurn(bool needed) {
    static std::mutex mutex;
    if (needed) lock_ = std::unique_lock(mutex);
  }

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace wasinn::onnx

#endif  // WASINN_BACKENDS_ONNX_DEVICE_TURN_H_
