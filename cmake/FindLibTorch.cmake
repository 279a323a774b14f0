# Finds PyTorch's C++ libraries: LibTorch::libtorch, to link, with headers. A library that is linked to them only runs
# with this version, so the backend has a separate one, which is opened at run time. LibTorch_LIBRARY_DIR is their
# folder, LibTorch_VERSION is that of the headers.
find_path(LibTorch_INCLUDE_DIR torch/csrc/jit/api/module.h PATH_SUFFIXES torch/include)
find_library(LibTorch_LIBRARY NAMES torch PATH_SUFFIXES torch/lib)
set(LibTorch_LIBRARY_DIR "")
if(LibTorch_LIBRARY)
  get_filename_component(LibTorch_LIBRARY_DIR "${LibTorch_LIBRARY}" DIRECTORY)
endif()
find_library(LibTorch_CPU_LIBRARY NAMES torch_cpu HINTS "${LibTorch_LIBRARY_DIR}" NO_DEFAULT_PATH)
find_library(LibTorch_C10_LIBRARY NAMES c10 HINTS "${LibTorch_LIBRARY_DIR}" NO_DEFAULT_PATH)
mark_as_advanced(LibTorch_INCLUDE_DIR LibTorch_LIBRARY LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY)

# Older ones have no such file, and are too old.
if(LibTorch_INCLUDE_DIR AND EXISTS ${LibTorch_INCLUDE_DIR}/torch/headeronly/version.h)
  file(STRINGS ${LibTorch_INCLUDE_DIR}/torch/headeronly/version.h LibTorch_VERSION
       REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
  string(REGEX REPLACE "[^0-9]+([0-9]+)[^0-9]+([0-9]+)[^0-9]+([0-9]+)" "\\1.\\2.\\3" LibTorch_VERSION "${LibTorch_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  LibTorch
  REQUIRED_VARS LibTorch_LIBRARY LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY LibTorch_INCLUDE_DIR LibTorch_VERSION
  VERSION_VAR LibTorch_VERSION
  REASON_FAILURE_MESSAGE "scripts/deps.sh torch fetches it, or name its prefix in CMAKE_PREFIX_PATH")

if(LibTorch_FOUND AND NOT TARGET LibTorch::libtorch)
  add_library(LibTorch::libtorch INTERFACE IMPORTED)
  # As system headers, because their warnings are not ours. They find their own dependencies (OpenBLAS …).
  set_target_properties(
    LibTorch::libtorch
    PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${LibTorch_INCLUDE_DIR};${LibTorch_INCLUDE_DIR}/torch/csrc/api/include"
               INTERFACE_COMPILE_DEFINITIONS "_GLIBCXX_USE_CXX11_ABI=1"
               INTERFACE_LINK_LIBRARIES "${LibTorch_CPU_LIBRARY};${LibTorch_C10_LIBRARY}"
               INTERFACE_LINK_OPTIONS "LINKER:--allow-shlib-undefined")
endif()
