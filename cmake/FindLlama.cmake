# Finds llama.cpp's C headers: Llama::headers. The library is opened at run time, so a build needs none;
# Llama_LIBRARY_DIR is its folder, if it was found.
find_path(Llama_INCLUDE_DIR llama.h PATH_SUFFIXES llama/include)
find_library(Llama_LIBRARY NAMES llama PATH_SUFFIXES llama/lib)
mark_as_advanced(Llama_INCLUDE_DIR Llama_LIBRARY)

set(Llama_LIBRARY_DIR "")
if(Llama_LIBRARY)
  get_filename_component(Llama_LIBRARY_DIR "${Llama_LIBRARY}" DIRECTORY)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  Llama
  REQUIRED_VARS Llama_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "scripts/deps.sh llama fetches it, or name its prefix in CMAKE_PREFIX_PATH")

if(Llama_FOUND AND NOT TARGET Llama::headers)
  add_library(Llama::headers INTERFACE IMPORTED)
  set_target_properties(Llama::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${Llama_INCLUDE_DIR}")
endif()
