#include "onnx/device_memory.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <utility>

#include "onnx/devices.h"

namespace wasinn::onnx {

namespace {

// ONNX Runtime's names. WebGPU's has had two.
constexpr const char* kCudaMemory[] = {"Cuda"};
constexpr const char* kWebGpuMemory[] = {"WebGPU_Buf", "WebGPU_Buffer"};

// NULL: the session has no memory of that name.
OrtPtr<OrtMemoryInfo> Find(const OrtLibrary& library, const OrtSession* session, const char* name, int device) {
  const OrtApi& api = library.api();
  OrtMemoryInfo* raw = nullptr;
  OrtStatus* status = api.CreateMemoryInfo(name, OrtDeviceAllocator, device, OrtMemTypeDefault, &raw);
  OrtPtr<OrtMemoryInfo> info(raw, api.ReleaseMemoryInfo);
  OrtAllocator* allocator = nullptr;
  if (status == nullptr) status = api.CreateAllocator(session, raw, &allocator);
  if (allocator != nullptr) api.ReleaseAllocator(allocator);
  if (status == nullptr) return info;
  api.ReleaseStatus(status);
  return {nullptr, api.ReleaseMemoryInfo};
}

const std::string* OptionOf(const backend::Config::Named& provider, std::string_view key) {
  for (const auto& [name, value] : provider.options) {
    if (name == key) return &value;
  }
  return nullptr;
}

// As ONNX Runtime reads it, which has refused invalid ones.
int DeviceOf(const backend::Config::Named& provider) {
  int device = 0;
  if (const std::string* text = OptionOf(provider, "device_id")) {
    std::from_chars(text->data(), text->data() + text->size(), device);
  }
  return device;
}

std::string_view NameOf(const OrtLibrary& library, const OrtMemoryInfo* info) {
  return library.Get<const char*>("memory info", library.api().MemoryInfoGetName, info);
}

}  // namespace

std::optional<DeviceMemory> DeviceMemory::Of(const OrtLibrary& library, const OrtSession* session,
                                             const Providers& providers) {
  if (providers.empty()) return std::nullopt;
  const backend::Config::Named& first = providers.front();
  const bool is_cuda = first.name == kCuda, is_web_gpu = IsWebGpu(first.name);
  // A session with its own context shares nothing.
  if (!is_cuda && (!is_web_gpu || OptionOf(first, "deviceId") != nullptr)) return std::nullopt;
  const int device = is_cuda ? DeviceOf(first) : 0;
  for (const char* name : is_cuda ? std::span<const char* const>(kCudaMemory) : kWebGpuMemory) {
    OrtPtr<OrtMemoryInfo> info = Find(library, session, name, device);
    if (info != nullptr) return DeviceMemory(fmt::format("{}:{}", is_cuda ? kCuda : kWebGpu, device), std::move(info));
  }
  return std::nullopt;
}

bool DeviceMemory::Has(const OrtLibrary& library, const OrtValue* tensor) const {
  const auto* where =
      library.Get<const OrtMemoryInfo*>("memory of a tensor", library.api().GetTensorMemoryInfo, tensor);
  return NameOf(library, where) == NameOf(library, info_.get());
}

}  // namespace wasinn::onnx
