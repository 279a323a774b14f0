# Builds guests that are components, with the tools that scripts/deps.sh components component-guests rust-guests fetches.
#
#   wasinn_add_c_component(NAME SOURCES file… [INCLUDES dir…] [OPTIONS option…] [WIT folder])
#                                                                                  C or C++, as for wasinn_add_guest; WIT: for
#                                                                                  another version of wasi:nn
#   wasinn_add_rust_component(NAME FOLDER MADE)                                    a library, as for wasinn_add_rust_guest, with
#                                                                                  the exports of its component
#   wasinn_plug_component(NAME INTO PLUG)                                          PLUG exports the imports of INTO: both as one
#   wasinn_add_component(NAME COMMAND word… DEPENDS file…)                         the component's path follows COMMAND
#
# make ${WASINN_GUESTS}/NAME.component.wasm (target guest-NAME.component, part of "all"). If a tool is missing they
# do nothing; WASINN_WASM_TOOLS, WASINN_COMPONENTIZE_JS, WASINN_COMPONENTIZE_PY and WASINN_CARGO_WASM are its paths, or false.

# The wasi:nn that components import, and the world for languages that need one.
set(WASINN_WIT_NN ${PROJECT_SOURCE_DIR}/guest/wit/deps/wasi-nn)
set(WASINN_WIT ${PROJECT_SOURCE_DIR}/guest/wit)
file(GLOB_RECURSE WASINN_WIT_FILES ${WASINN_WIT}/*.wit)

# Tools can be installed or removed after a build folder was configured, so they are looked for each time.
set(missing)
foreach(tool IN ITEMS wasm-tools componentize-js componentize-py cargo-wasm)
  string(TOUPPER WASINN_${tool} variable)
  string(REPLACE "-" "_" variable ${variable})
  if(${variable} AND NOT EXISTS ${${variable}})
    unset(${variable} CACHE)
  endif()
  find_program(${variable} ${tool} HINTS ${CMAKE_PREFIX_PATH} PATH_SUFFIXES component-tools/bin)
  mark_as_advanced(${variable})
  if(NOT ${variable})
    list(APPEND missing ${tool})
  endif()
endforeach()
# The adapters, which implement WASI's preview 1 for core modules.
find_path(WASINN_ADAPTERS wasi_snapshot_preview1.command.wasm HINTS ${CMAKE_PREFIX_PATH} PATH_SUFFIXES component-tools/adapters NO_CACHE)
if(NOT WASINN_ADAPTERS)
  set(WASINN_WASM_TOOLS "")
endif()
# The gate has no guests in these languages, and neither have its sanitizers' builds. The shards that have them are
# those that run guests on engines, and those of users' pages.
set(has_languages OFF)
foreach(tier IN ITEMS languages matrix llama wasmedge real-models packages docs gpu)
  wasinn_has_tier(${tier} has)
  if(has)
    set(has_languages ON)
  endif()
endforeach()
if(NOT has_languages)
  foreach(tool IN ITEMS COMPONENTIZE_JS COMPONENTIZE_PY CARGO_WASM GO_WASM)
    set(WASINN_${tool} "")
  endforeach()
elseif(missing)
  list(JOIN missing ", " missing)
  message(STATUS "Components: some or all will not be built, for these tools are missing: ${missing}; "
                 "scripts/deps.sh component-guests rust-guests fetches them")
endif()

function(wasinn_add_component name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "COMMAND;DEPENDS")
  set(component ${WASINN_GUESTS}/${name}.component.wasm)
  add_custom_command(
    OUTPUT ${component}
    COMMAND ${arg_COMMAND} ${component}
    DEPENDS ${arg_DEPENDS} ${WASINN_WIT_FILES}
    COMMENT "Building component ${name}"
    VERBATIM)
  wasinn_guest_target(${name}.component ${component})
endfunction()

# wasinn_new_component(NAME KIND MODULE [TARGET]): makes a component of a core module, which TARGET makes, and which has
# its interfaces embedded. KIND: command, if it has a main; otherwise reactor. It can import any function of WASI's
# preview 1: the adapter has them.
function(wasinn_new_component name kind module)
  wasinn_add_component(
    ${name} COMMAND ${WASINN_WASM_TOOLS} component new --adapt ${WASINN_ADAPTERS}/wasi_snapshot_preview1.${kind}.wasm ${module} -o DEPENDS ${module} ${ARGN})
endfunction()

# wasinn_component_of(NAME MODULE TARGET): makes a component of a core module that has a main, which TARGET makes. The
# module's imports decide which part of wasi:nn it gets. A fourth argument is the folder of another version of wasi:nn.
function(wasinn_component_of name module target)
  set(wit ${WASINN_WIT_NN})
  if(ARGC GREATER 3)
    set(wit ${ARGV3})
  endif()
  file(GLOB wit_files ${wit}/*.wit)
  set(embedded ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.embedded.wasm)
  add_custom_command(
    OUTPUT ${embedded}
    COMMAND ${WASINN_WASM_TOOLS} component embed ${wit} ${module} -o ${embedded}
    DEPENDS ${module} ${target} ${WASINN_WIT_FILES} ${wit_files}
    COMMENT "Embedding the interfaces of component ${name}"
    VERBATIM)
  wasinn_new_component(${name} command ${embedded})
endfunction()

function(wasinn_add_c_component name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "WIT" "SOURCES;INCLUDES;OPTIONS")
  if(NOT WASINN_WASM_TOOLS OR NOT WASINN_HAVE_GUESTS)
    return()
  endif()
  wasinn_add_guest(${name}.core SOURCES ${arg_SOURCES} ${PROJECT_SOURCE_DIR}/guest/c/wasi_nn_component_start.c
                   INCLUDES ${PROJECT_SOURCE_DIR}/guest/c ${arg_INCLUDES} OPTIONS -nostartfiles ${arg_OPTIONS})
  wasinn_component_of(${name} ${WASINN_GUESTS}/${name}.core.wasm guest-${name}.core ${arg_WIT})
endfunction()

function(wasinn_add_rust_component name folder made)
  if(NOT WASINN_WASM_TOOLS OR NOT WASINN_CARGO_WASM)
    return()
  endif()
  wasinn_add_rust_guest(${name}.core ${folder} ${made})
  set(module ${WASINN_GUESTS}/${name}.core.wasm)
  # The bindings already embed the interfaces.
  wasinn_new_component(${name} reactor ${module} guest-${name}.core)
endfunction()

function(wasinn_plug_component name into plug)
  if(NOT WASINN_WASM_TOOLS OR NOT WASINN_CARGO_WASM)
    return()
  endif()
  # The tool names the part after its file, and that name must not have dots.
  set(part ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${plug}.wasm)
  add_custom_command(
    OUTPUT ${part}
    COMMAND ${CMAKE_COMMAND} -E copy ${WASINN_GUESTS}/${plug}.component.wasm ${part}
    DEPENDS ${WASINN_GUESTS}/${plug}.component.wasm guest-${plug}.component)
  set(root ${WASINN_GUESTS}/${into}.component.wasm)
  wasinn_add_component(${name} COMMAND ${WASINN_WASM_TOOLS} compose ${root} -d ${part} -o DEPENDS ${root} ${part} guest-${into}.component)
endfunction()
