# Finds ONNX Runtime's C headers: OnnxRuntime::headers. The library is opened at run time, so a build needs none;
# OnnxRuntime_LIBRARY_DIR is its folder, if it was found. OnnxRuntime_VERSION is that of the headers: 1.API.
find_path(OnnxRuntime_INCLUDE_DIR onnxruntime_c_api.h PATH_SUFFIXES onnxruntime onnxruntime/core/session)
find_library(OnnxRuntime_LIBRARY NAMES libonnxruntime.so.1 onnxruntime)
mark_as_advanced(OnnxRuntime_INCLUDE_DIR OnnxRuntime_LIBRARY)

if(OnnxRuntime_INCLUDE_DIR)
  file(STRINGS ${OnnxRuntime_INCLUDE_DIR}/onnxruntime_c_api.h OnnxRuntime_VERSION REGEX "define ORT_API_VERSION ")
  string(REGEX REPLACE ".*ORT_API_VERSION +([0-9]+).*" "1.\\1" OnnxRuntime_VERSION "${OnnxRuntime_VERSION}")
endif()
set(OnnxRuntime_LIBRARY_DIR "")
if(OnnxRuntime_LIBRARY)
  get_filename_component(OnnxRuntime_LIBRARY_DIR "${OnnxRuntime_LIBRARY}" DIRECTORY)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  OnnxRuntime
  REQUIRED_VARS OnnxRuntime_INCLUDE_DIR
  VERSION_VAR OnnxRuntime_VERSION
  REASON_FAILURE_MESSAGE "scripts/deps.sh onnxruntime fetches it, or name its prefix in CMAKE_PREFIX_PATH")

if(OnnxRuntime_FOUND AND NOT TARGET OnnxRuntime::headers)
  add_library(OnnxRuntime::headers INTERFACE IMPORTED)
  set_target_properties(OnnxRuntime::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${OnnxRuntime_INCLUDE_DIR}")
endif()
