# Programs on the crates that others published for wasi-nn: theirs as they are, out of the packages that scripts/deps.sh rust-guests fetches, and
# ours of guests/crates, which run every format. Nothing of these crates knows wasinn.

# wasinn_published_example(FILE PREFIX TO [BEFORE AFTER]): the first example in Rust of a page, whose lines begin with PREFIX, between these two.
function(wasinn_published_example file prefix to)
  file(READ ${file} text)
  string(REGEX REPLACE "(^|\n)${prefix}" "\\1" text "${text}")
  string(FIND "${text}" "```rust\n" begin)
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(FIND "${text}" "\n```\n" end)
  if(begin EQUAL -1 OR end EQUAL -1)
    message(FATAL_ERROR "${file} has no example in Rust")
  endif()
  math(EXPR length "${end} - 7")
  string(SUBSTRING "${text}" 8 ${length} text)
  file(CONFIGURE OUTPUT ${to} CONTENT "${ARGV3}${text}${ARGV4}" @ONLY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
endfunction()

# wasinn_add_crate_guest(CRATE PROGRAM [option…]): the guest PROGRAM-CRATE.
function(wasinn_add_crate_guest crate program)
  wasinn_add_rust_guest(${program}-${crate} ${CMAKE_CURRENT_SOURCE_DIR}/guests/crates ${program}-${crate}.wasm
                        --package on-${crate} --bin ${program}-${crate} ${ARGN})
endfunction()

set(crates wasi-nn wasmedge-wasi-nn)
set(crate_guests text-wasmedge-wasi-nn)
foreach(crate IN LISTS crates)
  set(package ${WASINN_WASI_NN_CRATES}/${crate})
  set(published ${CMAKE_CURRENT_BINARY_DIR}/published/${crate})
  wasinn_published_example(${package}/src/lib.rs "//! ?" ${published}/lib.rs)
  # A block, whose value is what the example calls so.
  wasinn_published_example(${package}/README.md "    " ${published}/readme.rs "{\n" "\noutput_num_bytes\n}\n")
  wasinn_add_crate_guest(${crate} infer)
  wasinn_add_crate_guest(${crate} published --config "env.WASI_NN_PUBLISHED='${published}'")
  list(APPEND crate_guests infer-${crate} published-${crate})
endforeach()
wasinn_add_crate_guest(wasmedge-wasi-nn text)

wasinn_add_matrix_test(crates_test GUESTS ${crate_guests} TIER languages)
