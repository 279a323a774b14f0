# Test programs with nothing of ours in them are the same in all builds. Like guests, they need not be compiled in each.
#
#   wasinn_compiled_elsewhere(VARIABLE TARGET source…)
#
# sets VARIABLE to what a target of that name is made of: the sources, or, where another build has the guests (WASINN_GUESTS_ELSEWHERE),
# that build's objects of them. What differs between builds, paths for example, is in other sources of the program.
function(wasinn_compiled_elsewhere variable target)
  if(NOT WASINN_GUESTS_ELSEWHERE)
    set(${variable} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_BINARY_DIR BASE_DIRECTORY ${PROJECT_BINARY_DIR} OUTPUT_VARIABLE folder)
  wasinn_objects_of(objects ${ARGN})
  list(TRANSFORM objects PREPEND ${folder}/CMakeFiles/${target}.dir/)
  string(MAKE_C_IDENTIFIER ${folder} group)
  set_property(GLOBAL APPEND PROPERTY WASINN_COMPILED_ELSEWHERE ${group})
  set_property(GLOBAL APPEND PROPERTY WASINN_COMPILED_ELSEWHERE_${group} ${objects})
  list(TRANSFORM objects PREPEND ${WASINN_GUESTS_ELSEWHERE}/)
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  set(${variable} ${objects} PARENT_SCOPE)
endfunction()

# wasinn_objects_of(VARIABLE source…): the objects of a test program's sources, as CMake names them in the target's folder. With
# WASINN_UNITY, which that build has if this one has it, several sources have one object, but for those that are compiled alone.
function(wasinn_objects_of variable)
  set(objects "")
  set(together 0)
  foreach(source IN LISTS ARGN)
    get_source_file_property(alone ${source} SKIP_UNITY_BUILD_INCLUSION)
    if(WASINN_UNITY AND NOT alone)
      math(EXPR together "${together} + 1")
    else()
      string(REPLACE "../" "__/" source ${source})
      list(APPEND objects ${source}.o)
    endif()
  endforeach()
  set(unity 0)
  while(together GREATER 0)
    list(APPEND objects Unity/unity_${unity}_cxx.cxx.o)
    math(EXPR unity "${unity} + 1")
    math(EXPR together "${together} - ${WASINN_TESTS_AT_ONCE}")
  endwhile()
  set(${variable} ${objects} PARENT_SCOPE)
endfunction()

# wasinn_compile_elsewhere(): has the other build make all of them, those of a folder at once: what of them needs no engine is wanted
# before there is one. After the last target.
function(wasinn_compile_elsewhere)
  get_property(groups GLOBAL PROPERTY WASINN_COMPILED_ELSEWHERE)
  list(REMOVE_DUPLICATES groups)
  foreach(group IN LISTS groups)
    get_property(objects GLOBAL PROPERTY WASINN_COMPILED_ELSEWHERE_${group})
    set(files ${objects})
    list(TRANSFORM files PREPEND ${WASINN_GUESTS_ELSEWHERE}/)
    add_custom_target(${group}_elsewhere COMMAND ${CMAKE_COMMAND} --build ${WASINN_GUESTS_ELSEWHERE} --target ${objects}
                      BYPRODUCTS ${files} USES_TERMINAL # one at a time in that build
                      COMMENT "Compiling ${group} in ${WASINN_GUESTS_ELSEWHERE}" VERBATIM)
    add_dependencies(${group}_elsewhere guests)
  endforeach()
endfunction()
