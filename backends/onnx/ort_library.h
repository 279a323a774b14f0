// ONNX Runtime's library, opened at run time, and its C API.
#pragma once

// We never link ONNX Runtime: that would bind a symbol version which other releases lack.
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
  // `configured`: an absolute path of the library or of its folder; empty: where the dynamic linker looks (our own
  // RUNPATH first). Throws WASINN_ERROR_UNSUPPORTED_OPERATION where there is none. The library stays open for the life of the
  // OS process.
  explicit OrtLibrary(const std::string& configured);

  const OrtApi& api() const { return *api_; }
  const std::string& version() const { return version_; }  // "1.31.1"
  const std::string& path() const { return path_; }

  // Throws what a failed status says, and releases it. `doing` stands before ONNX Runtime's own words.
  void Check(OrtStatus* status, const char* doing) const;
  // The same words, for who wants no exception; releases the status, which must not be NULL.
  std::string Message(OrtStatus* status, wasinn_code* code = nullptr) const;

  // What a function of the API stores at its last argument; throws as Check does.
  template <typename T, typename Function, typename... Args>
  T Get(const char* doing, Function function, Args... args) const {
    T value{};
    Check(function(args..., &value), doing);
    return value;
  }
  // The same of an object that is the caller's.
  template <typename T, typename Function, typename... Args>
  OrtPtr<T> Make(const char* doing, void (*release)(T*), Function create, Args... args) const {
    return {Get<T*>(doing, create, args...), release};
  }
  // The default one.
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

  // Whether the shape's rank is known, for telling a scalar from an unknown rank; empty where ONNX Runtime cannot say
  // (before 1.24).
  std::optional<bool> HasShape(const OrtTensorTypeAndShapeInfo* info) const;
  // Whether SetLoadCancelled does anything (since 1.22).
  bool CanCancelLoad() const;
  // Any thread, while a session is made with these options.
  void SetLoadCancelled(OrtSessionOptions* options) const;

 private:
  void* FunctionAt(size_t index) const;

  const OrtApi* api_ = nullptr;
  int minor_ = 0;
  std::string version_;
  std::string path_;
};

}  // namespace wasinn::onnx
