# reference_FRAMEWORK for each of ${frameworks}: the framework called directly, for tests to compare with. Nothing of ours is in it, so
# like guests it comes from another build, where this one takes these from there.

# wasinn_add_reference(FRAMEWORK NATIVE source LIBRARIES library… [DEFINE definition…])
function(wasinn_add_reference framework)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NATIVE" "LIBRARIES;DEFINE")
  set(target reference_${framework})
  if(WASINN_GUESTS_ELSEWHERE)
    add_custom_target(${target} DEPENDS guests)
    return()
  endif()
  add_executable(${target} reference/main.cc reference/${framework}.cc ../backends/${arg_NATIVE} ../backends/driver_paths.cc)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE backend_driver ${arg_LIBRARIES})
  # The driver can drive a backend and knows a folder of models; here it only reads files.
  target_compile_definitions(${target} PRIVATE ${arg_DEFINE} WASINN_TEST_BACKEND="" WASINN_TEST_MODELS="")
  add_dependencies(guests ${target})
endfunction()

wasinn_add_reference(onnx NATIVE native.cc LIBRARIES OnnxRuntime::headers
                     DEFINE WASINN_TEST_ONNXRUNTIME="${OnnxRuntime_LIBRARY_DIR}/libonnxruntime.so.1")
if(TARGET wasinn_backend_openvino)
  find_package(OpenVino REQUIRED)
  find_file(openvino_library NAMES libopenvino_c.so.2641 libopenvino_c.so HINTS ${OpenVino_LIBRARY_DIR} NO_CACHE)
  wasinn_add_reference(openvino NATIVE openvino_native.cc LIBRARIES OpenVino::headers
                       DEFINE WASINN_TEST_OPENVINO="${openvino_library}")
endif()
if(TARGET wasinn_backend_tflite)
  find_package(TensorFlowLite REQUIRED)
  wasinn_add_reference(tflite NATIVE tflite_native.cc LIBRARIES TensorFlowLite::headers
                       DEFINE WASINN_TEST_TFLITE="${TensorFlowLite_LIBRARY_DIR}/libtensorflowlite_c.so")
endif()
if(TARGET wasinn_backend_tensorflow)
  find_package(TensorFlow REQUIRED)
  wasinn_add_reference(tensorflow NATIVE tensorflow_native.cc LIBRARIES TensorFlow::headers
                       DEFINE WASINN_TEST_TENSORFLOW="${TensorFlow_LIBRARY_DIR}/libtensorflow_cc.so.2")
endif()
if(TARGET wasinn_backend_torch)
  find_package(LibTorch REQUIRED)
  wasinn_add_reference(torch NATIVE torch_models.cc LIBRARIES LibTorch::libtorch)
endif()
if(TARGET wasinn_backend_llama)
  find_package(Llama REQUIRED)
  wasinn_add_reference(llama NATIVE llama_native.cc LIBRARIES Llama::headers
                       DEFINE WASINN_TEST_LLAMA="${Llama_LIBRARY_DIR}/libllama.so")
endif()
