# Finds Wasmtime's C API. Sets Wasmtime_FOUND and Wasmtime_VERSION (of the headers), and defines Wasmtime::wasmtime.
find_path(Wasmtime_INCLUDE_DIR wasmtime.h)
find_library(Wasmtime_LIBRARY wasmtime)
mark_as_advanced(Wasmtime_INCLUDE_DIR Wasmtime_LIBRARY)

if(Wasmtime_INCLUDE_DIR)
  file(STRINGS ${Wasmtime_INCLUDE_DIR}/wasmtime.h Wasmtime_VERSION REGEX "define WASMTIME_VERSION \"")
  string(REGEX REPLACE ".*\"(.*)\".*" "\\1" Wasmtime_VERSION "${Wasmtime_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  Wasmtime
  REQUIRED_VARS Wasmtime_LIBRARY Wasmtime_INCLUDE_DIR
  VERSION_VAR Wasmtime_VERSION
  REASON_FAILURE_MESSAGE "scripts/deps.sh wasmtime fetches it, or name its prefix in CMAKE_PREFIX_PATH")

if(Wasmtime_FOUND AND NOT TARGET Wasmtime::wasmtime)
  if(Wasmtime_LIBRARY MATCHES "\\.a$")
    find_package(Threads REQUIRED)
    add_library(Wasmtime::wasmtime STATIC IMPORTED)
    set_target_properties(Wasmtime::wasmtime PROPERTIES
      INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m")
  else()
    # Builds of Wasmtime carry no soname; unless told so, CMake would write the library's full path into what links it.
    add_library(Wasmtime::wasmtime SHARED IMPORTED)
    set_target_properties(Wasmtime::wasmtime PROPERTIES IMPORTED_NO_SONAME ON)
  endif()
  set_target_properties(Wasmtime::wasmtime PROPERTIES
    IMPORTED_LOCATION "${Wasmtime_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${Wasmtime_INCLUDE_DIR}")
endif()
