# Installs the pages into share/doc/wasinn, with the files that they link to in the folders of the repository, so that
# each link leads somewhere: tests/docs/installed_test.py reports missing ones.
foreach(document IN ITEMS LICENSE README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md bench/README.md bench/scale/measured.json models/README.md tests/models/README.md
                          tests/models/tiny/make_mobilenet.py packaging/npm/README.md packaging/npm/lib/index.d.ts packaging/home.toml scripts/manifest.sh proto/inference.proto
                          src/engines/engine.h src/engines/guest_run.h src/engines/wamr/register.cc rust/wasinn/src/begun.rs
                          src/engines/wasmtime/link_async.cc src/engines/wasmtime/new_engine.cc tests/engines/any/wasm3_guest.cc
                          tests/engines/guests/threads.c tests/serve/spin_test.py tests/serve/handler03/src/lib.rs tests/component/nn03/src/lib.rs)
  cmake_path(GET document PARENT_PATH folder)
  install(FILES ${PROJECT_SOURCE_DIR}/${document} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder} COMPONENT doc OPTIONAL)
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc
        FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png" PATTERN "*.yaml")
foreach(sources IN ITEMS backends/template examples guest include/wasinn packaging/images packaging/kubernetes tests/gpu)
  cmake_path(GET sources PARENT_PATH folder)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${sources} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder} COMPONENT doc
          # Files that a build leaves in the source tree.
          PATTERN target EXCLUDE PATTERN build EXCLUDE PATTERN new EXCLUDE PATTERN node_modules EXCLUDE PATTERN __pycache__ EXCLUDE PATTERN "*.wasm" EXCLUDE
          PATTERN ".*" EXCLUDE)
endforeach()
