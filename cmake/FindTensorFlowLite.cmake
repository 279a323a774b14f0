# Finds TensorFlow Lite's C headers: TensorFlowLite::headers. The library is opened at run time, so a build needs none;
# TensorFlowLite_LIBRARY_DIR is its folder, if it was found.
find_path(TensorFlowLite_INCLUDE_DIR tensorflow/lite/c/c_api.h PATH_SUFFIXES tflite/include)
find_library(TensorFlowLite_LIBRARY NAMES tensorflowlite_c PATH_SUFFIXES tflite/lib)
mark_as_advanced(TensorFlowLite_INCLUDE_DIR TensorFlowLite_LIBRARY)

set(TensorFlowLite_LIBRARY_DIR "")
if(TensorFlowLite_LIBRARY)
  get_filename_component(TensorFlowLite_LIBRARY_DIR "${TensorFlowLite_LIBRARY}" DIRECTORY)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  TensorFlowLite
  REQUIRED_VARS TensorFlowLite_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "scripts/deps.sh tflite fetches it, or name its prefix in CMAKE_PREFIX_PATH")

if(TensorFlowLite_FOUND AND NOT TARGET TensorFlowLite::headers)
  add_library(TensorFlowLite::headers INTERFACE IMPORTED)
  set_target_properties(TensorFlowLite::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${TensorFlowLite_INCLUDE_DIR}")
endif()
