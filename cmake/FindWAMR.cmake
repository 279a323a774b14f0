# Finds WAMR, the WebAssembly Micro Runtime. Sets WAMR_FOUND, WAMR_VERSION, WAMR_LIBRARY, WAMR_INCLUDE_DIR and
# WAMR_COMPILER, which is optional, and defines WAMR::wamr.
find_path(WAMR_INCLUDE_DIR wasm_export.h PATH_SUFFIXES wamr/include)
find_library(WAMR_LIBRARY NAMES iwasm vmlib PATH_SUFFIXES wamr/lib)
# The compiler that belongs to the library: code from another release's compiler may not load.
if(WAMR_LIBRARY)
  get_filename_component(wamr_prefix ${WAMR_LIBRARY} DIRECTORY)
  find_program(WAMR_COMPILER wamrc PATHS ${wamr_prefix}/../bin NO_DEFAULT_PATH)
endif()
mark_as_advanced(WAMR_INCLUDE_DIR WAMR_LIBRARY WAMR_COMPILER)

# Its headers do not have a version: 2.4 is the first with these arguments.
set(WAMR_VERSION "")
if(WAMR_INCLUDE_DIR)
  file(STRINGS ${WAMR_INCLUDE_DIR}/wasm_export.h WAMR_VERSION REGEX "^wasm_runtime_instantiate_ex2\\(")
  if(WAMR_VERSION)
    set(WAMR_VERSION 2.4)
  else()
    set(WAMR_VERSION 2.3)
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  WAMR
  REQUIRED_VARS WAMR_LIBRARY WAMR_INCLUDE_DIR
  VERSION_VAR WAMR_VERSION
  REASON_FAILURE_MESSAGE "scripts/deps.sh wamr provides it, or name its prefix in CMAKE_PREFIX_PATH")

if(WAMR_FOUND AND NOT TARGET WAMR::wamr)
  find_package(Threads REQUIRED)
  if(WAMR_LIBRARY MATCHES "\\.a$")
    add_library(WAMR::wamr STATIC IMPORTED)
    set_target_properties(WAMR::wamr PROPERTIES INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m")
  else()
    add_library(WAMR::wamr SHARED IMPORTED)
  endif()
  set_target_properties(WAMR::wamr PROPERTIES
    IMPORTED_LOCATION "${WAMR_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${WAMR_INCLUDE_DIR}")
endif()
