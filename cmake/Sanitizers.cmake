# WASINN_SANITIZE=address,undefined or =thread instruments all code of ours; frameworks and engines are not instrumented.
if(WASINN_SANITIZE)
  add_compile_options(-fsanitize=${WASINN_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${WASINN_SANITIZE})
endif()
