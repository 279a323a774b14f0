# Finds Wasmtime's C API. Sets Wasmtime_FOUND, Wasmtime_VERSION (of the headers), Wasmtime_LIBRARY, Wasmtime_INCLUDE_DIR
# and Wasmtime_SERVES_COMPONENTS, and defines Wasmtime::wasmtime.
#
# The build of Wasmtime that serves wasi:nn to components is in component/ of its prefix (scripts/deps.sh
# wasmtime-component). It is used if it is there: it is a complete Wasmtime, and a process can only have one. It can be
# installed or removed after a build folder was configured, so it is looked for each time.
if(Wasmtime_COMPONENT_PREFIX AND NOT EXISTS ${Wasmtime_COMPONENT_PREFIX}/component/lib/libwasmtime.so)
  unset(Wasmtime_COMPONENT_PREFIX CACHE)
endif()
find_path(Wasmtime_COMPONENT_PREFIX component/lib/libwasmtime.so)
if(Wasmtime_COMPONENT_PREFIX)
  set(Wasmtime_SERVES_COMPONENTS TRUE)
  # These hide values that an earlier run may have put into the cache.
  set(Wasmtime_INCLUDE_DIR ${Wasmtime_COMPONENT_PREFIX}/component/include)
  set(Wasmtime_LIBRARY ${Wasmtime_COMPONENT_PREFIX}/component/lib/libwasmtime.so)
else()
  set(Wasmtime_SERVES_COMPONENTS FALSE)
  find_path(Wasmtime_INCLUDE_DIR wasmtime.h)
  find_library(Wasmtime_LIBRARY wasmtime)
endif()
mark_as_advanced(Wasmtime_COMPONENT_PREFIX Wasmtime_INCLUDE_DIR Wasmtime_LIBRARY)

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
    # Builds of Wasmtime have no soname. Without this, CMake would write the library's full path into programs that link it.
    add_library(Wasmtime::wasmtime SHARED IMPORTED)
    set_target_properties(Wasmtime::wasmtime PROPERTIES IMPORTED_NO_SONAME ON)
  endif()
  set_target_properties(Wasmtime::wasmtime PROPERTIES
    IMPORTED_LOCATION "${Wasmtime_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${Wasmtime_INCLUDE_DIR}")
endif()
