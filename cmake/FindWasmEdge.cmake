# Finds WasmEdge. Sets WasmEdge_FOUND, WasmEdge_VERSION, WasmEdge_INCLUDE_DIR, WasmEdge_LIBRARY, WasmEdge_TOOL (the
# program wasmedge) and WasmEdge_RUN (the program that has to run programs linked to it, if any). Defines
# WasmEdge::wasmedge, and WasmEdge::headers for plugins, which take its functions from the process that loads them.
find_path(WasmEdge_INCLUDE_DIR wasmedge/wasmedge.h PATH_SUFFIXES wasmedge/include)
find_library(WasmEdge_LIBRARY wasmedge PATH_SUFFIXES wasmedge/lib)
find_program(WasmEdge_TOOL wasmedge PATH_SUFFIXES wasmedge/bin)
mark_as_advanced(WasmEdge_INCLUDE_DIR WasmEdge_LIBRARY WasmEdge_TOOL)

set(WasmEdge_VERSION "")
if(WasmEdge_INCLUDE_DIR)
  file(STRINGS ${WasmEdge_INCLUDE_DIR}/wasmedge/version.h WasmEdge_VERSION REGEX "define WASMEDGE_VERSION \"")
  string(REGEX REPLACE ".*\"(.*)\".*" "\\1" WasmEdge_VERSION "${WasmEdge_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  WasmEdge
  REQUIRED_VARS WasmEdge_LIBRARY WasmEdge_INCLUDE_DIR
  VERSION_VAR WasmEdge_VERSION
  REASON_FAILURE_MESSAGE "scripts/deps.sh wasmedge provides it, or name its prefix in CMAKE_PREFIX_PATH")

if(WasmEdge_FOUND)
  # The WasmEdge of scripts/deps.sh can be built for a newer system than this one. Then that system's libraries are next
  # to it.
  set(WasmEdge_RUN "")
  get_filename_component(wasmedge_prefix ${WasmEdge_LIBRARY} DIRECTORY)
  get_filename_component(wasmedge_prefix ${wasmedge_prefix} DIRECTORY)
  if(EXISTS ${wasmedge_prefix}/lib/ld.so AND EXISTS ${wasmedge_prefix}/bin/run)
    set(WasmEdge_RUN ${wasmedge_prefix}/bin/run)
  endif()
  if(NOT TARGET WasmEdge::wasmedge)
    add_library(WasmEdge::headers INTERFACE IMPORTED)
    target_include_directories(WasmEdge::headers SYSTEM INTERFACE ${WasmEdge_INCLUDE_DIR})
    add_library(WasmEdge::wasmedge SHARED IMPORTED)
    set_target_properties(WasmEdge::wasmedge PROPERTIES
      IMPORTED_LOCATION "${WasmEdge_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${WasmEdge_INCLUDE_DIR}")
    if(WasmEdge_RUN)
      target_link_options(WasmEdge::wasmedge INTERFACE LINKER:--allow-shlib-undefined)
    endif()
  endif()
endif()
