# Finds wasm3, a WebAssembly interpreter, for the test of an engine that wasinn has no adapter for. Sets Wasm3_FOUND, Wasm3_LIBRARY and
# Wasm3_INCLUDE_DIR, and defines Wasm3::wasm3.
find_path(Wasm3_INCLUDE_DIR wasm3.h PATH_SUFFIXES wasm3/include)
find_library(Wasm3_LIBRARY NAMES m3 PATH_SUFFIXES wasm3/lib)
mark_as_advanced(Wasm3_INCLUDE_DIR Wasm3_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Wasm3 REQUIRED_VARS Wasm3_LIBRARY Wasm3_INCLUDE_DIR
                                  REASON_FAILURE_MESSAGE "scripts/deps.sh wasm3 provides it")

if(Wasm3_FOUND AND NOT TARGET Wasm3::wasm3)
  add_library(Wasm3::wasm3 STATIC IMPORTED)
  set_target_properties(Wasm3::wasm3 PROPERTIES
    IMPORTED_LOCATION "${Wasm3_LIBRARY}"
    INTERFACE_LINK_LIBRARIES m
    INTERFACE_INCLUDE_DIRECTORIES "${Wasm3_INCLUDE_DIR}")
endif()
