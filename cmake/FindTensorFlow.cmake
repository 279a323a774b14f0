# Finds the headers of TensorFlow's C API: TensorFlow::headers. The libraries are opened at run time, so a build needs
# none; TensorFlow_LIBRARY_DIR is their folder, if they were found. TensorFlow_VERSION is that of the headers.
find_path(TensorFlow_INCLUDE_DIR tensorflow/c/c_api.h PATH_SUFFIXES tensorflow/include)
find_library(TensorFlow_LIBRARY NAMES libtensorflow_cc.so.2 libtensorflow.so.2 PATH_SUFFIXES tensorflow/lib ../tensorflow/lib)
if(NOT TensorFlow_LIBRARY AND TensorFlow_INCLUDE_DIR)
  find_library(TensorFlow_LIBRARY NAMES libtensorflow_cc.so.2 libtensorflow.so.2 PATHS ${TensorFlow_INCLUDE_DIR}/../lib
               NO_DEFAULT_PATH)
endif()
mark_as_advanced(TensorFlow_INCLUDE_DIR TensorFlow_LIBRARY)

set(TensorFlow_VERSION "")
set(version_header ${TensorFlow_INCLUDE_DIR}/tensorflow/core/public/release_version.h)
if(TensorFlow_INCLUDE_DIR AND EXISTS ${version_header})
  file(STRINGS ${version_header} parts REGEX "define TF_(MAJOR|MINOR|PATCH)_VERSION +[0-9]+")
  foreach(part IN LISTS parts)
    string(REGEX REPLACE ".* ([0-9]+).*" "\\1" part "${part}")
    list(APPEND TensorFlow_VERSION ${part})
  endforeach()
  list(JOIN TensorFlow_VERSION "." TensorFlow_VERSION)
endif()
set(TensorFlow_LIBRARY_DIR "")
if(TensorFlow_LIBRARY)
  get_filename_component(TensorFlow_LIBRARY_DIR "${TensorFlow_LIBRARY}" DIRECTORY)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  TensorFlow
  REQUIRED_VARS TensorFlow_INCLUDE_DIR
  VERSION_VAR TensorFlow_VERSION
  REASON_FAILURE_MESSAGE "scripts/deps.sh tensorflow fetches it, or name its prefix in CMAKE_PREFIX_PATH")

if(TensorFlow_FOUND AND NOT TARGET TensorFlow::headers)
  add_library(TensorFlow::headers INTERFACE IMPORTED)
  set_target_properties(TensorFlow::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${TensorFlow_INCLUDE_DIR}")
endif()
