# Makes a mistake of ours, or of a framework in this process, harder to use for a guest. Each option costs less than can
# be measured (`ctest -R bench_instructions` counts the stack protector's instructions). tests/opens checks the linked
# files. Debug builds and sanitizers, which find more, go without.
option(WASINN_HARDEN "Compile and link with what hardens a release" ON)

set(WASINN_HARDENED OFF)
if(WASINN_HARDEN AND NOT WASINN_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(WASINN_HARDENED ON)
  # A stack that was written beyond a buffer of bytes, or that a large frame would leave past the guard page, ends the
  # process. backends/ uses the stronger variant, because it reads models. Elsewhere that would be a tenth more
  # instructions in each inference.
  add_compile_options(-fstack-protector -fstack-clash-protection)
  # Copies whose target's size is known are checked.
  add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  # On processors that check it, returns go to where calls came from. (Linux does not check jumps, and their marks cost
  # as much.)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    add_compile_options(-fcf-protection=return)
    add_link_options(LINKER:-z,shstk) # the system's start files do not say it
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    add_compile_options(-mbranch-protection=pac-ret)
  endif()
  # All functions of libraries are looked up at the start, and then their table is read-only.
  add_link_options(LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
endif()
