# Compiles guests, programs for wasm32-wasi, in the build of the host: in C and C++, and at the end of this file in Rust and Go.
#
#   wasinn_add_guest(NAME SOURCES file… [INCLUDES dir…] [OPTIONS option…])
#
# makes ${WASINN_GUESTS}/NAME.wasm (target guest-NAME, part of "all"). OPTIONS go to compiling and linking. With OWN it is in
# ${CMAKE_BINARY_DIR}/guests in any case.
#
# WASINN_GUESTS_BUILD names another build of this checkout: guests are the same in all of them, so this build uses that one's
# and lets it make them (targets `guests` and `test_programs` there), if it is configured with tests and examples, and with the same WASINN_UNITY.
# Otherwise each builds its own.
# -DWASINN_GUEST_CLANG=… names the compiler: a clang that finds a sysroot for wasm32-wasi by itself, like Debian's clang-19 with
# wasi-libc, or wasi-sdk's. Without any, WASINN_HAVE_GUESTS is OFF and wasinn_add_guest does nothing.

# Sets WASINN_GUESTS, the folder of guests, and WASINN_GUESTS_ELSEWHERE, the build that makes them, if it is another one.
function(wasinn_choose_guests_build)
  set(elsewhere "")
  if(WASINN_GUESTS_BUILD AND EXISTS "${WASINN_GUESTS_BUILD}/build.ninja")
    load_cache(${WASINN_GUESTS_BUILD} READ_WITH_PREFIX that_ CMAKE_HOME_DIRECTORY WASINN_BUILD_TESTS WASINN_BUILD_EXAMPLES
               WASINN_UNITY)
    if(that_WASINN_BUILD_TESTS AND that_WASINN_BUILD_EXAMPLES AND that_CMAKE_HOME_DIRECTORY STREQUAL CMAKE_SOURCE_DIR
       AND that_WASINN_UNITY STREQUAL WASINN_UNITY)
      set(elsewhere ${WASINN_GUESTS_BUILD})
    endif()
  endif()
  if(elsewhere)
    message(STATUS "Guests: those of ${elsewhere}")
    add_custom_target(guests ALL COMMAND ${CMAKE_COMMAND} --build ${elsewhere} --target guests test_programs USES_TERMINAL
                      COMMENT "Building the guests in ${elsewhere}" VERBATIM)
    set(WASINN_GUESTS ${elsewhere}/guests PARENT_SCOPE)
  else()
    add_custom_target(guests)
    set(WASINN_GUESTS ${CMAKE_BINARY_DIR}/guests PARENT_SCOPE)
  endif()
  set(WASINN_GUESTS_ELSEWHERE "${elsewhere}" PARENT_SCOPE)
endfunction()

set(WASINN_GUESTS_BUILD "" CACHE PATH "Another build of this checkout whose guests this one takes, where it is there")
wasinn_choose_guests_build()
file(MAKE_DIRECTORY ${WASINN_GUESTS})

# wasinn_guest_target(NAME FILE): target guest-NAME, which makes FILE by a rule of this build, or has the other build make it.
function(wasinn_guest_target name file)
  if(WASINN_GUESTS_ELSEWHERE)
    add_custom_target(guest-${name} DEPENDS guests)
  else()
    add_custom_target(guest-${name} ALL DEPENDS ${file})
    add_dependencies(guests guest-${name})
  endif()
endfunction()

set(WASINN_GUEST_FLAGS --target=wasm32-wasi -O2 -Wall -Wextra -Wno-unused-command-line-argument)
set(WASINN_GUEST_FLAGS_C -std=c11)
set(WASINN_GUEST_FLAGS_CXX --driver-mode=g++ -std=c++20 -fno-exceptions)
# The names of functions stay for backtraces; the rest of the debug information is large.
set(WASINN_GUEST_LINK_FLAGS -Wl,--strip-debug)

# wasinn_guest_clang_works(CLANG RESULT): checks whether it can make a C++ program. Sets RESULT, and its output in
# RESULT_output.
function(wasinn_guest_clang_works clang result)
  set(dir ${CMAKE_BINARY_DIR}/CMakeFiles/guest-clang)
  file(WRITE ${dir}/try.cc "#include <cstdio>\n#include <string>\nint main() { std::puts(std::string(9, 'x').c_str()); }\n")
  execute_process(
    COMMAND ${clang} ${WASINN_GUEST_FLAGS} ${WASINN_GUEST_FLAGS_CXX} ${WASINN_GUEST_LINK_FLAGS} ${dir}/try.cc -o ${dir}/try.wasm
    RESULT_VARIABLE exit OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(exit EQUAL 0)
    set(${result} ON PARENT_SCOPE)
  else()
    set(${result} OFF PARENT_SCOPE)
  endif()
  set(${result}_output "${output}" PARENT_SCOPE)
endfunction()

# Checks once; the result is kept as long as WASINN_GUEST_CLANG is the same.
function(wasinn_find_guest_clang)
  if(WASINN_GUEST_CLANG)
    if(NOT WASINN_GUEST_CLANG STREQUAL "${WASINN_GUEST_CLANG_TRIED}")
      wasinn_guest_clang_works(${WASINN_GUEST_CLANG} works)
      if(NOT works)
        message(FATAL_ERROR "WASINN_GUEST_CLANG=${WASINN_GUEST_CLANG} makes no wasm32-wasi program:\n${works_output}")
      endif()
    endif()
  else()
    foreach(name IN ITEMS clang-19 clang clang-20 clang-21 clang-22 clang-18)
      find_program(candidate ${name} NO_CACHE)
      if(candidate)
        wasinn_guest_clang_works(${candidate} works)
        if(works)
          set(WASINN_GUEST_CLANG ${candidate})
          break()
        endif()
      endif()
      unset(candidate)
    endforeach()
  endif()
  set(WASINN_GUEST_CLANG "${WASINN_GUEST_CLANG}" CACHE FILEPATH "clang with a sysroot for wasm32-wasi, for guests" FORCE)
  set(WASINN_GUEST_CLANG_TRIED "${WASINN_GUEST_CLANG}" CACHE INTERNAL "")
endfunction()

wasinn_find_guest_clang()
if(WASINN_GUEST_CLANG)
  set(WASINN_HAVE_GUESTS ON)
  message(STATUS "Guests: compiled by ${WASINN_GUEST_CLANG}")
else()
  set(WASINN_HAVE_GUESTS OFF)
  message(STATUS "Guests: none will be built, for no clang with a wasm32-wasi sysroot was found; "
                 "scripts/deps.sh guest installs one, or name yours: -DWASINN_GUEST_CLANG=…")
endif()

# stb (header-only) is a host's package that guests include. -idirafter, so that the host's libc does not come before
# the guest's.
find_path(Stb_INCLUDE_DIR stb/stb_image.h)
mark_as_advanced(Stb_INCLUDE_DIR)

function(wasinn_add_guest name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "OWN" "" "SOURCES;INCLUDES;OPTIONS")
  if(NOT arg_SOURCES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "wasinn_add_guest(${name}): needs SOURCES, and knows no '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT WASINN_HAVE_GUESTS)
    return()
  endif()

  set(flags ${arg_OPTIONS})
  foreach(include IN LISTS arg_INCLUDES)
    get_filename_component(include ${include} ABSOLUTE)
    list(APPEND flags -I${include})
  endforeach()
  if(Stb_INCLUDE_DIR)
    list(APPEND flags -idirafter ${Stb_INCLUDE_DIR})
  endif()

  set(objects)
  foreach(source IN LISTS arg_SOURCES)
    wasinn_guest_object(${name} ${source} "${flags}" object)
    list(APPEND objects ${object})
  endforeach()
  set(wasm ${WASINN_GUESTS}/${name}.wasm)
  if(arg_OWN)
    set(wasm ${CMAKE_BINARY_DIR}/guests/${name}.wasm)
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/guests)
  endif()
  add_custom_command(
    OUTPUT ${wasm}
    COMMAND ${WASINN_GUEST_CLANG} ${WASINN_GUEST_FLAGS} ${WASINN_GUEST_FLAGS_CXX} ${WASINN_GUEST_LINK_FLAGS} ${flags}
            ${objects} -o ${wasm}
    DEPENDS ${objects}
    COMMENT "Linking guest ${name}.wasm"
    VERBATIM)
  if(arg_OWN)
    add_custom_target(guest-${name} ALL DEPENDS ${wasm})
  else()
    wasinn_guest_target(${name} ${wasm})
  endif()
endfunction()

# wasinn_guest_object(GUEST SOURCE FLAGS RESULT): one rule that compiles, and rebuilds when an included header changes.
function(wasinn_guest_object guest source flags result)
  get_filename_component(source ${source} ABSOLUTE)
  get_filename_component(stem ${source} NAME)
  string(SHA256 hash ${source}) # two sources may have the same name
  string(SUBSTRING ${hash} 0 8 hash)
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/guest-${guest})
  set(object ${dir}/${stem}-${hash}.o)
  file(MAKE_DIRECTORY ${dir})
  if(source MATCHES "\\.c$")
    set(language ${WASINN_GUEST_FLAGS_C})
  else()
    set(language ${WASINN_GUEST_FLAGS_CXX})
  endif()
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${WASINN_GUEST_CLANG} ${WASINN_GUEST_FLAGS} ${language} ${flags}
            -MD -MF ${object}.d -c ${source} -o ${object}
    DEPENDS ${source} ${WASINN_GUEST_CLANG}
    DEPFILE ${object}.d
    COMMENT "Compiling guest ${guest}: ${stem}"
    VERBATIM)
  if(WASINN_TIDY OR NOT WASINN_UNITY) # scripts/tidy.sh and editors read what targets compile, and no other command
    add_library(guest-${guest}-${hash} OBJECT EXCLUDE_FROM_ALL ${source})
    set_target_properties(guest-${guest}-${hash} PROPERTIES COMPILE_OPTIONS "${WASINN_GUEST_FLAGS};${flags}" C_STANDARD 11 CXX_STANDARD 20)
  endif()
  set(${result} ${object} PARENT_SCOPE)
endfunction()

# Guests in Rust and Go, with what scripts/deps.sh rust-guests go-guests fetches:
#
#   wasinn_add_rust_guest(NAME FOLDER MADE [option…])   cargo rustc builds the package in FOLDER, with these options; MADE is the guest,
#                                                       in Cargo's folder of releases
#   wasinn_add_go_guest(NAME FOLDER PACKAGE)            Go builds the package (".", "./examples/digits") of the module in FOLDER
#
# make ${WASINN_GUESTS}/NAME.wasm (target guest-NAME, part of "all"), again when a source of FOLDER or of guest/rust or guest/go changes.
# If the tool is missing they do nothing; WASINN_CARGO_WASM (of WasmComponent.cmake) and WASINN_GO_WASM are false then. Each has one folder
# for all builds of this source tree, because they mostly compile libraries.

# The tool can be installed or removed after a build folder was configured, so it is looked for each time.
if(WASINN_GO_WASM AND NOT EXISTS ${WASINN_GO_WASM})
  unset(WASINN_GO_WASM CACHE)
endif()
find_program(WASINN_GO_WASM go-wasm HINTS ${CMAKE_PREFIX_PATH} PATH_SUFFIXES component-tools/bin)
mark_as_advanced(WASINN_GO_WASM)
if(NOT WASINN_GO_WASM)
  message(STATUS "Guests in Go: will not be built; scripts/deps.sh go-guests fetches what they need")
endif()

# The caches of their compilers, for all checkouts, next to that of scripts/deps.sh.
set(user_cache $ENV{XDG_CACHE_HOME})
if(NOT user_cache)
  set(user_cache $ENV{HOME}/.cache)
endif()
set(WASINN_GUEST_CACHE ${user_cache}/wasinn CACHE PATH "Where Cargo and Go keep what guests share")
mark_as_advanced(WASINN_GUEST_CACHE)

function(wasinn_add_rust_guest name folder made)
  if(NOT WASINN_CARGO_WASM)
    return()
  endif()
  set(sources)
  foreach(package IN ITEMS ${folder} ${PROJECT_SOURCE_DIR}/guest/rust)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${package}/src/*.rs ${package}/examples/*.rs)
    list(APPEND sources ${found} ${package}/Cargo.toml)
  endforeach()
  set(target ${WASINN_GUEST_CACHE}/cargo-guests)
  set(wasm ${WASINN_GUESTS}/${name}.wasm)
  add_custom_command(
    OUTPUT ${wasm}
    COMMAND ${WASINN_CARGO_WASM} rustc --release --locked --quiet --manifest-path ${folder}/Cargo.toml --target-dir ${target} ${ARGN}
    COMMAND ${CMAKE_COMMAND} -E copy ${target}/wasm32-wasip1/release/${made} ${wasm}
    DEPENDS ${sources} ${folder}/Cargo.lock ${WASINN_CARGO_WASM}
    COMMENT "Compiling guest ${name}"
    VERBATIM)
  wasinn_guest_target(${name} ${wasm})
endfunction()

function(wasinn_add_go_guest name folder package)
  if(NOT WASINN_GO_WASM)
    return()
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.go ${PROJECT_SOURCE_DIR}/guest/go/*.go)
  set(wasm ${WASINN_GUESTS}/${name}.wasm)
  add_custom_command(
    OUTPUT ${wasm}
    COMMAND ${CMAKE_COMMAND} -E env GOCACHE=${WASINN_GUEST_CACHE}/go-guests
            ${WASINN_GO_WASM} build -trimpath -buildvcs=false -ldflags=-s -o ${wasm} ${package}
    DEPENDS ${sources} ${folder}/go.mod ${PROJECT_SOURCE_DIR}/guest/go/go.mod ${WASINN_GO_WASM}
    WORKING_DIRECTORY ${folder}
    COMMENT "Compiling guest ${name}"
    VERBATIM)
  wasinn_guest_target(${name} ${wasm})
endfunction()
