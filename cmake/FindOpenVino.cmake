# Finds OpenVINO's C headers: OpenVino::headers. The library is opened at run time, so a build needs none;
# OpenVino_LIBRARY_DIR is its folder, if it was found. scripts/deps.sh puts both into a folder `openvino` of the prefix;
# Intel's archives have them in runtime/.
list(TRANSFORM CMAKE_PREFIX_PATH APPEND /openvino OUTPUT_VARIABLE OpenVino_HINTS)
find_path(
  OpenVino_INCLUDE_DIR openvino/c/openvino.h
  HINTS ${OpenVino_HINTS}
  PATH_SUFFIXES include runtime/include)
find_library(
  OpenVino_LIBRARY
  NAMES libopenvino_c.so.2641 openvino_c
  HINTS ${OpenVino_HINTS}
  PATH_SUFFIXES lib runtime/lib/intel64 runtime/lib/aarch64)
mark_as_advanced(OpenVino_INCLUDE_DIR OpenVino_LIBRARY)

set(OpenVino_LIBRARY_DIR "")
if(OpenVino_LIBRARY)
  get_filename_component(OpenVino_LIBRARY_DIR "${OpenVino_LIBRARY}" DIRECTORY)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  OpenVino
  REQUIRED_VARS OpenVino_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "scripts/deps.sh openvino fetches it, or name its prefix in CMAKE_PREFIX_PATH")

if(OpenVino_FOUND AND NOT TARGET OpenVino::headers)
  add_library(OpenVino::headers INTERFACE IMPORTED)
  set_target_properties(OpenVino::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${OpenVino_INCLUDE_DIR}")
endif()
