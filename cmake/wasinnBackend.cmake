# wasinn_add_backend(NAME SOURCES…): the shared library libwasinn_backend_NAME.so, which only exports
# wasinn_backend_query. Its sources can include <wasinn/backend.h>, and "common/table.h", which makes the table of
# functions of C++ classes.
function(wasinn_add_backend NAME)
  set(target wasinn_backend_${NAME})
  add_library(${target} MODULE ${ARGN})
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_include_directories(${target} PRIVATE ${WASINN_BACKEND_INCLUDE_DIR} ${WASINN_BACKEND_SDK_DIR})
  target_link_options(${target} PRIVATE LINKER:--version-script=${WASINN_BACKEND_SDK_DIR}/backend.map)
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${WASINN_BACKEND_SDK_DIR}/backend.map)
endfunction()
