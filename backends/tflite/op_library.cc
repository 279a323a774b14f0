#include "tflite/op_library.h"

#include "common/throw.h"

namespace wasinn::tflite {

using backend::Throw;

OpLibrary::OpLibrary(const std::string& path) {
  constexpr char kAdd[] = "wasmEdgeWasiNnTfLiteAddCustomOps";
  backend::CheckDependencies(path);
  void* handle = backend::OpenLibrary(path.c_str());
  if (handle == nullptr) {
    const char* why = dlerror();
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "op_libraries: {}", why != nullptr ? why : path);
  }
  add_ = reinterpret_cast<decltype(add_)>(dlsym(handle, kAdd));
  if (add_ == nullptr) Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "op_libraries: {} has no {}", path, kAdd);
}

}  // namespace wasinn::tflite
