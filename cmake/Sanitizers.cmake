# WASINN_SANITIZE=address,undefined or =thread instruments all code of ours; frameworks and engines are not instrumented.
if(WASINN_SANITIZE)
  add_compile_options(-fsanitize=${WASINN_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(WASINN_SANITIZE MATCHES "undefined")
    # Undefined behaviour ends the program without a message, which takes a fifth less time to compile; a debugger shows
    # the place.
    add_compile_options(-fsanitize-undefined-trap-on-error)
  endif()
  if(WASINN_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Its checks are calls instead of inline code: the same checks, and a fifth less time to compile.
    add_compile_options(--param=asan-instrumentation-with-call-threshold=0)
  endif()
  add_link_options(-fsanitize=${WASINN_SANITIZE})
endif()
