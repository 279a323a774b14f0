// ONNX Runtime's library, opened at run time, and its C API.
#pragma once

// ONNX Runtime is never linked: that would bind a symbol version which other releases lack.
#define ORT_API_MANUAL_INIT
#include <onnxruntime_c_api.h>
#include <wasinn/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace wasinn::onnx {

// Owns an object of ONNX Runtime: OrtPtr<OrtSession> session(raw, api.ReleaseSession).
template <typename T>
using OrtPtr = std::unique_ptr<T, void (*)(T*)>;

class OrtLibrary {
 public:
  // `configured`: an absolute path of the library or of its folder; empty: the dynamic linker's folders (this library's
  // RUNPATH first). Throws WASINN_ERROR_UNSUPPORTED_OPERATION if there is none. The library stays open for the life of
  // the OS process.
  explicit OrtLibrary(const std::string& configured);

  const OrtApi& api() const { return *api_; }
  const std::string& version() const { return version_; }  // "1.31.1"
  const std::string& path() const { return path_; }

  // Throws the message of a failed status, and releases it. `doing` is put before ONNX Runtime's own message.
  void Check(OrtStatus* status, const char* doing) const;
  // The same message without an exception; releases the status, which must not be NULL.
  std::string Message(OrtStatus* status, wasinn_code* code = nullptr) const;

  // The value that a function of the API stores at its last argument; throws like Check.
  template <typename T, typename Function, typename... Args>
  T Get(const char* doing, Function function, Args... args) const {
    T value{};
    Check(function(args..., &value), doing);
    return value;
  }
  // As above, for an object that the caller owns.
  template <typename T, typename Function, typename... Args>
  OrtPtr<T> Make(const char* doing, void (*release)(T*), Function create, Args... args) const {
    return {Get<T*>(doing, create, args...), release};
  }
  // The default allocator.
  OrtAllocator* Allocator() const { return Get<OrtAllocator*>("allocator", api_->GetAllocatorWithDefaultOptions); }
  OrtPtr<OrtMemoryInfo> CpuMemory() const {
    return Make("memory info", api_->ReleaseMemoryInfo, api_->CreateCpuMemoryInfo, OrtDeviceAllocator,
                OrtMemTypeDefault);
  }
  std::vector<int64_t> DimsOf(const OrtTensorTypeAndShapeInfo* info, const char* doing) const {
    std::vector<int64_t> dims(Get<size_t>(doing, api_->GetDimensionsCount, info));
    if (!dims.empty()) Check(api_->GetDimensions(info, dims.data(), dims.size()), doing);
    return dims;
  }
  // A value of ONNX Runtime over memory that must outlive it.
  OrtPtr<OrtValue> TensorOver(const OrtMemoryInfo* memory, ONNXTensorElementDataType type,
                              std::span<const int64_t> dims, void* data, size_t bytes) const {
    return Make("making a tensor", api_->ReleaseValue, api_->CreateTensorWithDataAsOrtValue, memory, data, bytes,
                dims.data(), dims.size(), type);
  }

  // Whether the shape's rank is known, to distinguish a scalar from an unknown rank; empty if ONNX Runtime cannot
  // report that (before 1.24).
  std::optional<bool> HasShape(const OrtTensorTypeAndShapeInfo* info) const;
  // Whether SetLoadCancelled has an effect (since 1.22).
  bool CanCancelLoad() const;
  // From any thread, while a session is made with these options.
  void SetLoadCancelled(OrtSessionOptions* options) const;

 private:
  void* FunctionAt(size_t index) const;

  const OrtApi* api_ = nullptr;
  int minor_ = 0;
  std::string version_;
  std::string path_;
};

}  // namespace wasinn::onnx
