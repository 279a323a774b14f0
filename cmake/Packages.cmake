# Debian packages by CPack, one for each component of cmake/Install.cmake that was built: cpack --config CPackConfig.cmake in the build folder, or
# scripts/package.sh deb. They are of this machine's Debian: dpkg-shlibdeps finds what they need of it.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME wasinn)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_VENDOR "wasinn")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each has its own
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/debian/documents.cmake)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
# Folders of libraries that no package of Debian has: those of our packages, and those of frameworks.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib ${PROJECT_BINARY_DIR}/lib/wasinn)
foreach(library IN ITEMS "${Wasmtime_LIBRARY}" "${WAMR_LIBRARY}")
  cmake_path(GET library PARENT_PATH folder)
  list(APPEND CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${folder})
endforeach()
if(TARGET wasinn_torch_runtime)
  find_package(LibTorch QUIET)
  list(APPEND CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${LibTorch_LIBRARY_DIR})
endif()

set(WASINN_SONAME_VERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
# What other packages that link the library depend on, and that the dynamic linker's cache has it.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/debian/shlibs @ONLY
     CONTENT "libwasinn @WASINN_SONAME_VERSION@ libwasinn@WASINN_SONAME_VERSION@ (>= @PROJECT_VERSION@)\n")
file(WRITE ${PROJECT_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
set(CPACK_COMPONENTS_ALL "")

# wasinn_wrap(VARIABLE TEXT): wraps a text in lines as Debian requires.
function(wasinn_wrap variable text)
  set(wrapped "")
  set(line "")
  string(REPLACE " " ";" words "${text}")
  foreach(word IN LISTS words)
    string(LENGTH "${line} ${word}" length)
    if(length GREATER 72)
      string(APPEND wrapped "${line}\n")
      set(line "${word}")
    else()
      string(JOIN " " line ${line} ${word})
    endif()
  endforeach()
  set(${variable} "${wrapped}${line}" PARENT_SCOPE)
endfunction()

# wasinn_package(COMPONENT NAME SECTION SUMMARY TEXT [DEPENDS COMPONENT…] [OTHERS FIELD=VALUE…])
macro(wasinn_package COMPONENT NAME SECTION SUMMARY TEXT)
  cmake_parse_arguments(ARG "" "" "DEPENDS;OTHERS" ${ARGN})
  list(APPEND CPACK_COMPONENTS_ALL ${COMPONENT})
  string(TOUPPER ${COMPONENT} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${NAME})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${SECTION})
  wasinn_wrap(wrapped "${TEXT}")
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${SUMMARY}\n${wrapped}")
  set(CPACK_COMPONENT_${upper}_DEPENDS ${ARG_DEPENDS})
  foreach(other IN LISTS ARG_OTHERS)
    string(REGEX MATCH "^([A-Z_]+)=(.*)$" matched "${other}")
    set(CPACK_DEBIAN_${upper}_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
  endforeach()
endmacro()

wasinn_package(lib libwasinn${WASINN_SONAME_VERSION} libs "machine learning for WebAssembly programs (library)"
  "Implements wasi-nn, the interface by which sandboxed WebAssembly programs run machine-learning models, for any WebAssembly engine and over the host's own frameworks. Frameworks are opened by packages wasinn-backend-NAME."
  OTHERS "PACKAGE_SUGGESTS=wasinn-backend-onnx")
set(CPACK_DEBIAN_LIB_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/shlibs ${PROJECT_BINARY_DIR}/debian/triggers)
wasinn_package(guest wasinn-guest devel "machine learning for WebAssembly programs (guests)"
  "Headers, a crate, a Go module and interfaces for guest programs, and a guest and a model to try."
  OTHERS "PACKAGE_ARCHITECTURE=all" "PACKAGE_SHLIBDEPS=OFF")
wasinn_package(dev libwasinn-dev libdevel "machine learning for WebAssembly programs (development)"
  "Headers for programs that embed libwasinn and for backends, with CMake and pkg-config files." DEPENDS lib guest)
set(engines "")
foreach(entry IN ITEMS wasmtime:Wasmtime wamr:WAMR wasmedge:WasmEdge)
  string(REGEX MATCH "^(.*):(.*)$" matched ${entry})
  set(engine ${CMAKE_MATCH_1})
  set(title ${CMAKE_MATCH_2})
  if(NOT TARGET wasinn_${engine})
    continue()
  endif()
  wasinn_package(${engine}-dev libwasinn-${engine}-dev libdevel "wasi-nn for programs that embed ${title} (development)"
    "A static library and its source code. ${title}'s own headers and library come from elsewhere." DEPENDS dev)
  if(TARGET wasinn_command AND NOT engine STREQUAL wasmedge)
    list(APPEND engines ${engine})
    wasinn_package(${engine} libwasinn-${engine}${WASINN_SONAME_VERSION} libs "machine learning for WebAssembly programs (engine ${title})"
      "The build of ${title} that the wasinn command runs programs with.")
  endif()
endforeach()
if(TARGET wasinn_command)
  wasinn_package(command wasinn science "run WebAssembly programs that use machine-learning models"
    "The command runs WebAssembly programs in a sandbox, in which they use models of the host by wasi-nn. Frameworks are opened by packages wasinn-backend-NAME."
    DEPENDS lib guest ${engines} OTHERS "PACKAGE_RECOMMENDS=wasinn-backend-onnx" "PACKAGE_SUGGESTS=wasinn-serve, wasinn-doc, skopeo")
endif()
if(TARGET wasinn_serve)
  wasinn_package(serve wasinn-serve net "serve machine-learning models and WebAssembly programs"
    "What wasinn serve starts: models behind the Open Inference Protocol over HTTP and gRPC, and WebAssembly programs behind paths." DEPENDS command)
endif()
if(TARGET wasinn_bench)
  wasinn_package(bench wasinn-bench science "time machine-learning models in WebAssembly programs"
    "What wasinn bench starts: it times a model natively and from a WebAssembly program." DEPENDS command)
endif()
if(WASINN_CONFORMANCE_GUESTS)
  wasinn_package(conformance wasinn-conformance devel "tests for hosts of wasi-nn"
    "Runs real guests, honest and hostile ones, on any host of wasi-nn, and reports which answers the specification does not allow."
    OTHERS "PACKAGE_ARCHITECTURE=all" "PACKAGE_SHLIBDEPS=OFF" "PACKAGE_DEPENDS=python3 (>= 3.8)")
endif()
if(TARGET wasinn_native_lib)
  wasinn_package(iwasm wasinn-iwasm science "wasi-nn for the iwasm command of WAMR" "Native libraries for iwasm --native-lib=." DEPENDS lib)
  set(CPACK_DEBIAN_IWASM_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/triggers)
endif()
if(TARGET wasinn_wasmedge_plugin)
  wasinn_package(wasmedge-plugin wasinn-wasmedge-plugin science "wasi-nn as a plugin of WasmEdge" "Set WASMEDGE_PLUGIN_PATH=/usr/${CMAKE_INSTALL_LIBDIR}/wasmedge." DEPENDS lib)
endif()
# The frameworks that go along: cmake/Install.cmake has the others' libraries, too, but those are large.
if(TARGET wasinn_backend_tflite AND EXISTS ${PROJECT_SOURCE_DIR}/.deps/tflite)
  wasinn_package(tflite wasinn-framework-tflite science "TensorFlow Lite for wasinn" "The library that wasinn-backend-tflite opens.")
  set(framework_of_tflite tflite)
endif()
foreach(entry IN ITEMS "onnx:ONNX Runtime:" "openvino:OpenVINO:openvino" "tflite:TensorFlow Lite:" "torch:PyTorch:torch" "tensorflow:TensorFlow:tensorflow-cpu"
                       "llama:llama.cpp:llama-cpp-python")
  string(REGEX MATCH "^(.*):(.*):(.*)$" matched ${entry})
  if(TARGET wasinn_backend_${CMAKE_MATCH_1})
    set(brings "The framework's own library comes from PyPI's ${CMAKE_MATCH_3}, or from elsewhere: wasinn says how, where it is missing.")
    if(NOT CMAKE_MATCH_3)
      set(brings "The framework's own library comes along.")
    endif()
    wasinn_package(backend-${CMAKE_MATCH_1} wasinn-backend-${CMAKE_MATCH_1} science "machine learning for WebAssembly programs (${CMAKE_MATCH_2})" "${brings}"
      DEPENDS lib ${framework_of_${CMAKE_MATCH_1}})
  endif()
endforeach()
if(TARGET wasinn_backend_remote)
  wasinn_package(backend-remote wasinn-backend-remote science "machine learning for WebAssembly programs (servers far away)"
    "Models that servers of the Open Inference Protocol have: Triton, KServe, MLServer, wasinn-serve." DEPENDS lib)
endif()
wasinn_package(doc wasinn-doc doc "machine learning for WebAssembly programs (documentation)" "Guides for users, embedders, operators and those who write backends."
  OTHERS "PACKAGE_ARCHITECTURE=all" "PACKAGE_SHLIBDEPS=OFF")
# For packaging/debian/documents.cmake.
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_BINARY_DIR}/debian/config.cmake)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/debian/config.cmake @ONLY
     CONTENT "set(WASINN_SOURCE [[@PROJECT_SOURCE_DIR@]])\nset(WASINN_STRIP [[@CMAKE_STRIP@]])\n")
include(CPack)
