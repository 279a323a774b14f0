// OpenVINO's C API, opened at run time.
#pragma once

#include <openvino/c/openvino.h>
#include <wasinn/backend.h>

#include <memory>
#include <string>

#include "common/library.h"

namespace wasinn::openvino {

// The functions that this backend calls.
// clang-format off
#define WASINN_OPENVINO_FUNCTIONS(X)                                                                          \
    X(ov_available_devices_free) X(ov_compiled_model_create_infer_request) X(ov_compiled_model_free)          \
    X(ov_compiled_model_get_property) X(ov_compiled_model_input_by_index) X(ov_compiled_model_inputs_size)    \
    X(ov_compiled_model_output_by_index) X(ov_compiled_model_outputs_size) X(ov_core_compile_model_props)     \
    X(ov_core_create_with_config) X(ov_core_free) X(ov_core_get_available_devices) X(ov_core_read_model)      \
    X(ov_core_read_model_from_memory_buffer) X(ov_core_set_property) X(ov_free) X(ov_get_error_info)          \
    X(ov_get_last_err_msg) X(ov_get_openvino_version) X(ov_infer_request_cancel) X(ov_infer_request_free)     \
    X(ov_infer_request_get_output_tensor_by_index) X(ov_infer_request_infer)                                  \
    X(ov_infer_request_set_input_tensor_by_index) X(ov_infer_request_set_output_tensor_by_index)              \
    X(ov_infer_request_start_async) X(ov_infer_request_wait) X(ov_model_free) X(ov_model_is_dynamic)          \
    X(ov_output_const_port_free) X(ov_partial_shape_free) X(ov_port_get_any_name) X(ov_port_get_element_type) \
    X(ov_port_get_partial_shape) X(ov_shape_free) X(ov_tensor_create_from_host_ptr) X(ov_tensor_data)         \
    X(ov_tensor_free) X(ov_tensor_get_byte_size) X(ov_tensor_get_element_type) X(ov_tensor_get_shape)         \
    X(ov_version_free)
// clang-format on

struct OvApi {
#define WASINN_OPENVINO_MEMBER(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses): declares
  WASINN_OPENVINO_FUNCTIONS(WASINN_OPENVINO_MEMBER)
#undef WASINN_OPENVINO_MEMBER
};

template <typename T>
using OvPtr = std::unique_ptr<T, void (*)(T*)>;

// Immutable: any thread.
class OvLibrary {
 public:
  // `configured`: the value of the key "library".
  explicit OvLibrary(const std::string& configured);

  const OvApi& api() const { return api_; }
  const std::string& version() const { return version_; }  // "2026.4.1-22982-…"
  const std::string& path() const { return path_; }
  const std::string& folder() const { return folder_; }  // of libopenvino.so, which looks for its plugins there

  // Throws OpenVINO's message for a status that is not OK; `code` is for statuses without a code of their own.
  void Check(ov_status_e status, const char* doing, wasinn_code code = WASINN_ERROR_RUNTIME) const;
  // OpenVINO's message for the last failure. It keeps one text for the whole OS process: if calls of two threads fail
  // at the same moment, both may get the same.
  std::string Message(ov_status_e status) const;

 private:
  OvApi api_;
  std::string version_;
  std::string path_, folder_;
};

}  // namespace wasinn::openvino
