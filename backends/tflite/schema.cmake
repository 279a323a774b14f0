# wasinn_tflite_schema: what flatc makes of schema.fbs, as <tflite/schema.fbs.h>, with FlatBuffers, which is a library of headers. Not there
# where these are not. Fuzzers take it without the backend, too.
include_guard(GLOBAL)
find_path(FlatBuffers_INCLUDE_DIR flatbuffers/flatbuffers.h)
find_program(FlatBuffers_COMPILER flatc)
mark_as_advanced(FlatBuffers_INCLUDE_DIR FlatBuffers_COMPILER)
if(NOT FlatBuffers_INCLUDE_DIR OR NOT FlatBuffers_COMPILER)
  return()
endif()
# As the build is configured: what only looks at sources (clang-tidy) finds it, too.
set(schema ${CMAKE_CURRENT_LIST_DIR}/schema.fbs)
set(made ${PROJECT_BINARY_DIR}/made)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${schema})
if(${schema} IS_NEWER_THAN ${made}/tflite/schema.fbs.h)
  execute_process(COMMAND ${FlatBuffers_COMPILER} --cpp --filename-suffix .fbs -o ${made}/tflite ${schema} COMMAND_ERROR_IS_FATAL ANY)
endif()
add_library(wasinn_tflite_schema INTERFACE)
target_include_directories(wasinn_tflite_schema SYSTEM INTERFACE ${made} ${FlatBuffers_INCLUDE_DIR})
