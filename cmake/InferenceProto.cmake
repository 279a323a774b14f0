# wasinn_inference_proto(OUT [GRPC] [LITE]): C++ of the Open Inference Protocol's messages (proto/inference.proto),
# generated in the folder of this build. OUT gets the sources, and ${OUT}_INCLUDE_DIR the headers' folder.
# GRPC: its service, too.
# LITE: without descriptors. An OS process has one table of all descriptors, and ends if two libraries enter a file of
# the same name. So a library must be LITE if it is loaded into a program that has these messages, too.
function(wasinn_inference_proto OUT)
  cmake_parse_arguments(ARG "GRPC;LITE" "" "" ${ARGN})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/generated)
  file(MAKE_DIRECTORY ${folder})
  set(options "")
  if(ARG_LITE)
    set(options "lite:")
  endif()
  set(sources ${folder}/inference.pb.cc)
  set(headers ${folder}/inference.pb.h)
  set(service "")
  if(ARG_GRPC)
    list(APPEND sources ${folder}/inference.grpc.pb.cc)
    list(APPEND headers ${folder}/inference.grpc.pb.h)
    set(service --grpc_out=${folder} --plugin=protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin>)
  endif()
  add_custom_command(
    OUTPUT ${sources} ${headers}
    COMMAND protobuf::protoc --proto_path=${PROJECT_SOURCE_DIR}/proto --cpp_out=${options}${folder} ${service} inference.proto
    DEPENDS ${PROJECT_SOURCE_DIR}/proto/inference.proto
    VERBATIM)
  set(flags -w)
  if(WASINN_SANITIZE MATCHES "address") # it is protoc's code, over a library that has no checks either
    list(APPEND flags -fno-sanitize=all)
  endif()
  set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON COMPILE_OPTIONS "${flags}")
  set(${OUT} ${sources} PARENT_SCOPE)
  set(${OUT}_INCLUDE_DIR ${folder} PARENT_SCOPE)
endfunction()
