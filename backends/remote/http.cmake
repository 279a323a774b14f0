# Addresses, settings and connections of servers, which wasinn-serve also uses, with or without this backend.
if(TARGET wasinn_remote_http)
  return()
endif()
set(sources address.cc config.cc http_stream.cc)
list(TRANSFORM sources PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
add_library(wasinn_remote_http STATIC ${sources})
target_link_libraries(wasinn_remote_http PUBLIC wasinn_backend_common wasinn_oip gRPC::grpc++ protobuf::libprotobuf Boost::headers OpenSSL::SSL)
target_compile_definitions(wasinn_remote_http PUBLIC BOOST_ASIO_NO_DEPRECATED)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False alarms about coroutines: their lambdas, and their frames, whose operator new is inlined and delete is not.
  target_compile_options(wasinn_remote_http PRIVATE -Wno-subobject-linkage -Wno-mismatched-new-delete)
endif()
