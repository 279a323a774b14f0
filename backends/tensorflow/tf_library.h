// TensorFlow, found and opened at run time.
#pragma once

#include <tensorflow/c/c_api.h>
#include <tensorflow/c/tf_tstring.h>
#include <wasinn/types.h>

#include <memory>
#include <string>

namespace wasinn::tensorflow {

// The used functions of the C API.
// clang-format off
#define WASINN_TF_FUNCTIONS(X)                                                                                        \
    X(TF_Version) X(TF_NewStatus) X(TF_DeleteStatus) X(TF_GetCode) X(TF_Message) X(TF_NewTensor) X(TF_DeleteTensor)   \
    X(TF_TensorType) X(TF_NumDims) X(TF_Dim) X(TF_TensorByteSize) X(TF_TensorData) X(TF_TensorMaybeMove)              \
    X(TF_NewGraph) X(TF_DeleteGraph) X(TF_GraphOperationByName) X(TF_OperationNumOutputs) X(TF_OperationOutputType)   \
    X(TF_GraphGetTensorNumDims) X(TF_GraphGetTensorShape) X(TF_NewImportGraphDefOptions)                              \
    X(TF_DeleteImportGraphDefOptions) X(TF_GraphImportGraphDef) X(TF_NewSessionOptions) X(TF_DeleteSessionOptions)    \
    X(TF_SetConfig) X(TF_NewSession) X(TF_CloseSession) X(TF_DeleteSession) X(TF_SessionRun) X(TF_SessionListDevices) \
    X(TF_DeleteDeviceList) X(TF_DeviceListCount) X(TF_DeviceListType) X(TF_LoadSessionFromSavedModel)  \
    X(TF_StringInit) X(TF_StringCopy) X(TF_StringGetDataPointer) X(TF_StringGetSize) X(TF_StringDealloc)               \
    X(TF_LoadLibrary) X(TF_GetOpList) X(TF_DeleteLibraryHandle)
// clang-format on

struct TfApi {
#define WASINN_TF_FUNCTION(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses): declares
  WASINN_TF_FUNCTIONS(WASINN_TF_FUNCTION)
#undef WASINN_TF_FUNCTION
};

template <typename T>
using TfPtr = std::unique_ptr<T, void (*)(T*)>;

// Thread-safe. TensorFlow stays open for the life of the OS process, with its threads and its own settings: those from
// the environment are set before it is opened, unless the host's environment has them.
class TfLibrary {
 public:
  // `configured`: an absolute path of the library or of its folder; empty: the dynamic linker's folders. `opening_log`
  // gets TensorFlow's output to stderr while it is opened.
  explicit TfLibrary(const std::string& configured);
  TfLibrary(const TfLibrary&) = delete;
  TfLibrary& operator=(const TfLibrary&) = delete;

  const TfApi* operator->() const { return &api_; }
  const std::string& version() const { return version_; }
  const std::string& path() const { return path_; }
  const std::string& opening_log() const { return opening_log_; }

  TfPtr<TF_Status> NewStatus() const { return {api_.TF_NewStatus(), api_.TF_DeleteStatus}; }
  TfPtr<TF_Tensor> Own(TF_Tensor* tensor) const { return {tensor, api_.TF_DeleteTensor}; }
  // The first line of a status's message.
  std::string Message(const TF_Status* status) const;
  // Throws if the status is not OK.
  void Check(const TF_Status* status, const char* doing) const;

 private:
  TfApi api_;
  std::string version_;
  std::string path_;
  std::string opening_log_;
};

// WASINN_ERROR_RUNTIME for codes without an equivalent.
wasinn_code CodeOf(TF_Code code);

}  // namespace wasinn::tensorflow
